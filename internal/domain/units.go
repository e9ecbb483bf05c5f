package domain

import (
	"maps"
	"strconv"
)

// Units are how people name the units of a number: they have 4 cloves and 2 eggs, where rows have 4 clove and 2 piece.
type Units struct {
	Column string `yaml:"column"`
	// Of is the column of the number.
	Of string `yaml:"of"`
	// Words are said of more than one, by the unit. A unit whose word is "" is never said, because the number says enough.
	Words map[string]string `yaml:"words"`
}

// Visible is a value of a column, nil for a unit that is never said: 2 eggs are as many as 2 count eggs.
func (u *Units) Visible(column string, value any) any {
	if u == nil || column != u.Column {
		return value
	}
	if word, known := u.Words[formatValue(value, "")]; known && word == "" {
		return nil
	}

	return value
}

// inWords is a row with its unit as people say it.
func (u *Units) inWords(row map[string]any) map[string]any {
	if u == nil {
		return row
	}
	word, known := u.Words[formatValue(row[u.Column], "")]
	n, err := strconv.ParseFloat(formatValue(row[u.Of], ""), 64)
	if !known || word != "" && (err != nil || n <= 1) {
		return row
	}
	row = maps.Clone(row)
	row[u.Column] = word

	return row
}
