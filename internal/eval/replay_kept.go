package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// GoOn reads what an interrupted replay kept in a file, nil if there is none yet, and returns a function that appends a
// turn: one line each, so that a long conversation is not rewritten after every turn. A truncated line is written
// again.
func GoOn(file string, of *Replay) (before *Replay, add func(*ReplayedTurn) error, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("go on with a replay: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	lines := bytes.Split(bytes.TrimSpace(whole), []byte("\n"))
	if len(whole) > 0 {
		before = &Replay{}
		if err := json.Unmarshal(lines[0], before); err != nil {
			return nil, nil, fmt.Errorf("go on with a replay: %s: %w", file, err)
		}
		if before.Session != of.Session || before.Model != of.Model || before.From != max(of.From, 1) || before.With != of.With {
			return nil, nil, errors.New("the replay that was interrupted is of another session, model, turn, declaration or prompts: name another file")
		}
		for _, line := range lines[1:] {
			var turn ReplayedTurn
			if err := json.Unmarshal(line, &turn); err != nil {
				return nil, nil, fmt.Errorf("go on with a replay: %s: %w", file, err)
			}
			before.Turns = append(before.Turns, turn)
		}
		err = os.Truncate(file, int64(len(whole)))
	} else if err = os.Truncate(file, 0); err == nil || errors.Is(err, os.ErrNotExist) {
		err = appendLine(file, &Replay{Session: of.Session, Model: of.Model, From: max(of.From, 1), With: of.With})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("keep what is done: %w", err)
	}

	return before, func(turn *ReplayedTurn) error { return appendLine(file, turn) }, nil
}

func appendLine(file string, value any) error {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(json.NewEncoder(out).Encode(value), out.Sync(), out.Close())
	}
	if err != nil {
		return fmt.Errorf("keep what is done: %w", err)
	}

	return nil
}
