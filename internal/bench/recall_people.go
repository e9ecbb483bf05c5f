package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dialogue is one conversation between people, two lines per turn, and the questions about it.
type dialogue struct {
	turns     []said
	questions []question
}

type said struct {
	at             time.Time // zero if the set does not say
	message, reply string
}

// question has the positions of the turns that contain its answer.
type question struct {
	text     string
	evidence []int
}

// set is a public collection of conversations.
type set struct {
	name  string
	talks []dialogue
}

// sets reads the collections below a directory, each in its own repository's layout (testdata/README.md names the
// sources). Missing ones are skipped.
func sets(dir string) ([]set, error) {
	var found []set
	for _, one := range []struct {
		name, files string
		read        func(raw []byte) ([]dialogue, error)
	}{
		{"LoCoMo", "LoCoMo/data/locomo10.json", locomo},
		{"REALTALK", "REALTALK/data/Chat_*.json", realtalk},
		{"QMSum", "QMSum/data/ALL/test/*.json", qmsum},
	} {
		talks, err := readTalks(filepath.Join(dir, one.files), one.read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		if len(talks) > 0 {
			found = append(found, set{one.name, talks})
		}
	}

	return found, nil
}

func readTalks(pattern string, read func(raw []byte) ([]dialogue, error)) (all []dialogue, err error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		talks, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, talks...)
	}

	return all, nil
}

type line struct {
	ID    string `json:"dia_id"`
	Text  string `json:"text"`
	Clean string `json:"clean_text"`
}

type asked struct {
	Question string `json:"question"`
	Evidence []any  `json:"evidence"`
	Category int    `json:"category"`
}

// unanswerable is LoCoMo's category of questions that the conversation does not answer.
const unanswerable = 5

func locomo(raw []byte) ([]dialogue, error) {
	var file []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []asked                    `json:"qa"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	var talks []dialogue
	for _, one := range file {
		talks = append(talks, sessions(one.Conversation, one.QA))
	}

	return talks, nil
}

func realtalk(raw []byte) ([]dialogue, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	var questions []asked
	if err := json.Unmarshal(file["qa"], &questions); err != nil {
		return nil, err
	}

	return []dialogue{sessions(file, questions)}, nil
}

var lineID = regexp.MustCompile(`D:?(\d+):(\d+)`)

// sessions reads the conversations of LoCoMo and REALTALK, which share a format: session_1, session_1_date_time, ...
func sessions(file map[string]json.RawMessage, questions []asked) dialogue {
	var t dialogue
	turnOf := map[string]int{} // by a line's id
	for n := 1; ; n++ {
		key := "session_" + strconv.Itoa(n)
		var lines []line
		if _, there := file[key]; !there || json.Unmarshal(file[key], &lines) != nil {
			break
		}
		var at string
		_ = json.Unmarshal(file[key+"_date_time"], &at) // one without a date has none
		texts := make([]string, len(lines))
		for i, l := range lines {
			texts[i], turnOf[l.ID] = l.Text+l.Clean, len(t.turns)+i/2
		}
		t.say(texts, when(at))
	}
	for _, q := range questions {
		if q.Category == unanswerable {
			continue
		}
		var evidence []int
		for _, m := range lineID.FindAllStringSubmatch(fmt.Sprint(q.Evidence...), -1) {
			session, _ := strconv.Atoi(m[1])
			number, _ := strconv.Atoi(m[2])
			if turn, known := turnOf[fmt.Sprintf("D%d:%d", session, number)]; known {
				evidence = append(evidence, turn)
			}
		}
		t.ask(q.Question, evidence)
	}

	return t
}

// say adds lines, two of them a turn.
func (t *dialogue) say(lines []string, at time.Time) {
	for pair := range slices.Chunk(lines, 2) {
		t.turns = append(t.turns, said{at, pair[0], strings.Join(pair[1:], "")})
	}
}

// ask adds a question, unless no turn answers it.
func (t *dialogue) ask(text string, evidence []int) {
	if len(evidence) > 0 {
		t.questions = append(t.questions, question{text, evidence})
	}
}

// when parses "1:56 pm on 8 May, 2023" and "29.12.2023, 00:51:12".
func when(text string) time.Time {
	for _, layout := range []string{"3:04 pm on 2 January, 2006", "02.01.2006, 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}

	return time.Time{}
}

func qmsum(raw []byte) ([]dialogue, error) {
	var file struct {
		Transcript []struct {
			Content string `json:"content"`
		} `json:"meeting_transcripts"`
		Queries []struct {
			Query string     `json:"query"`
			Spans [][]string `json:"relevant_text_span"`
		} `json:"specific_query_list"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	var t dialogue
	lines := make([]string, len(file.Transcript))
	for i, l := range file.Transcript {
		lines[i] = l.Content
	}
	t.say(lines, time.Time{})
	for _, q := range file.Queries {
		var evidence []int
		for _, span := range q.Spans {
			from, _ := strconv.Atoi(strings.TrimSpace(span[0]))
			to, _ := strconv.Atoi(strings.TrimSpace(span[1]))
			for n := from / 2; n <= to/2 && n < len(t.turns); n++ {
				evidence = append(evidence, n)
			}
		}
		t.ask(q.Query, evidence)
	}

	return []dialogue{t}, nil
}
