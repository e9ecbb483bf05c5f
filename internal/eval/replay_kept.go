package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ResumeReplay reads what an interrupted replay kept in a file, nil if there is none yet, and returns a function that appends a
// turn: one line each, so that a long conversation is not rewritten after every turn. A truncated line is written
// again.
func ResumeReplay(file string, of *Replay) (before *Replay, add func(*ReplayedTurn) error, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("go on with a replay: %w", err)
	}
	head := &Replay{Session: of.Session, Model: of.Model, From: max(of.From, 1), With: of.With}
	if whole := text[:bytes.LastIndexByte(text, '\n')+1]; len(whole) > 0 {
		if before, err = readKept(whole, head); err != nil {
			return nil, nil, fmt.Errorf("go on with a replay: %s: %w", file, err)
		}
		err = os.Truncate(file, int64(len(whole)))
	} else if err = os.WriteFile(file, nil, 0o600); err == nil {
		err = appendLine(file, head)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("keep what is done: %w", err)
	}

	return before, func(turn *ReplayedTurn) error { return appendLine(file, turn) }, nil
}

// readKept reads the lines of a replay that began with the same head.
func readKept(lines []byte, head *Replay) (*Replay, error) {
	decoder, kept := json.NewDecoder(bytes.NewReader(lines)), &Replay{}
	if err := decoder.Decode(kept); err != nil {
		return nil, err
	}
	if kept.Session != head.Session || kept.Model != head.Model || kept.From != head.From || kept.With != head.With {
		return nil, errors.New("the replay that was interrupted is of another session, model, turn, declaration or prompts: name another file")
	}
	for decoder.More() {
		var turn ReplayedTurn
		if err := decoder.Decode(&turn); err != nil {
			return nil, err
		}
		kept.Turns = append(kept.Turns, turn)
	}

	return kept, nil
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
