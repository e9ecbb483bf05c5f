package work

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
)

// Schema holds the rows that a turn reads and writes, and what is kept of it.
//
//go:embed schema.sql
var Schema string

// Keep is the statement that keeps what a node did.
//
//go:embed keep.sql
var Keep string

// Kept is what is to be kept of each turn. Its turns are numbered as Run numbers them.
type Kept struct {
	Texts []string              `json:"texts"`
	Turns []map[string][]Record `json:"turns"` // by node
}

// Record is what one statement keeps.
type Record struct {
	N        int     `json:"n"` // of the turn's calls
	Outline  *string `json:"outline"`
	Parts    []Part  `json:"parts"`
	Response *string `json:"response"`
	Results  string  `json:"results"`
	Events   string  `json:"events"`
}

// Part is a piece of a prompt, stored once by its hash.
type Part struct {
	Shared bool `json:"shared"` // by all sessions
	Text   int  `json:"text"`   // which of Texts
}

// ReadKept reads what Load names; nothing is kept if it names nothing.
func ReadKept(l Load) (*Kept, error) {
	kept := &Kept{}
	if l.Keep == "" {
		return kept, nil
	}
	text, err := os.ReadFile(l.Keep)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, kept); err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Keep, err)
	}

	return kept, nil
}

// Statements are the arguments of Keep for what the node did in the session's turn, almost always of one statement.
func (k *Kept) Statements(session string, turn int, node string) [][]any {
	if len(k.Turns) == 0 {
		return nil
	}
	records := k.Turns[turn][node]
	all := make([][]any, 0, len(records))
	for _, r := range records {
		hashes := make([][16]byte, 0, len(r.Parts))
		ownHashes, sharedHashes := [][16]byte{}, [][16]byte{}
		ownTexts, sharedTexts := []string{}, []string{}
		for _, part := range r.Parts {
			text := k.Texts[part.Text]
			sum := sha256.Sum256([]byte(text))
			hash := [16]byte(sum[:16])
			hashes = append(hashes, hash)
			if part.Shared {
				sharedHashes, sharedTexts = append(sharedHashes, hash), append(sharedTexts, text)
			} else {
				ownHashes, ownTexts = append(ownHashes, hash), append(ownTexts, text)
			}
		}
		all = append(all, []any{
			session, turn, r.N, node, r.Outline, hashes, r.Response, ownHashes, ownTexts, sharedHashes, sharedTexts, r.Results, r.Events,
		})
	}

	return all
}
