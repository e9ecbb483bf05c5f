package jobs

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/nodes"
	"alfred/registry"
)

// constrain stores the user's constraints. It returns the one whose end also ends this message's exclusions: the only
// one of kind exclude.
func (u *understand) constrain(ctx context.Context, reg *registry.Registry) (*uuid.UUID, error) {
	if len(u.out.Constraints) == 0 {
		return nil, nil
	}
	inForce, err := reg.Constraints(ctx)
	if err != nil {
		return nil, err
	}
	var exclusions []uuid.UUID
	for _, x := range u.out.Constraints {
		id, err := reg.AddConstraint(ctx, db.ConstraintInsertParams{
			Text: x.Text, Kind: x.Kind, Value: x.Value, Scope: x.Scope, ExpiresAt: expiry(x, u.s.Began),
		}, replacedConstraint(inForce, x.Replaces))
		if err != nil {
			return nil, err
		}
		if x.Kind == "exclude" {
			exclusions = append(exclusions, id)
		}
	}
	if len(exclusions) != 1 {
		return nil, nil
	}

	return &exclusions[0], nil
}

// replacedConstraint finds the constraint that a new one refers to by its text.
func replacedConstraint(inForce []*db.Constraints, text string) *uuid.UUID {
	if text == "" {
		return nil
	}
	for _, c := range inForce {
		if strings.EqualFold(strings.TrimSpace(c.Text), strings.TrimSpace(text)) {
			return &c.ID
		}
	}

	return nil
}

// spans maps words for a period to its last day, counted from today; a week ends on Sunday.
var spans = []struct {
	words *regexp.Regexp
	days  func(today time.Time) int
}{
	{regexp.MustCompile(`(?i)\bnext week(end)?\b`), func(today time.Time) int { return untilSunday(today) + 7 }},
	{regexp.MustCompile(`(?i)\bthis week(end)?\b`), untilSunday},
	{regexp.MustCompile(`(?i)\btomorrow\b`), func(time.Time) int { return 1 }},
	{regexp.MustCompile(`(?i)\b(today|tonight)\b`), func(time.Time) int { return 0 }},
}

// begins matches such words where they say when something begins.
var begins = regexp.MustCompile(`(?i)\b(?:from|since|starting|beginning|as of) (?:today|tonight|tomorrow|(?:this|next) week(?:end)?)\b`)

// dates matches the texts of a value that begin with a date.
var dates = regexp.MustCompile(`"(\d{4}-\d{2}-\d{2})`)

// expiry is when a constraint ends by itself: after the last date of its value, or after the period its words name; nil
// for never, also if its words say only when it begins. now is in the user's time zone.
func expiry(c nodes.Constraint, now time.Time) *time.Time {
	last, dated := lastDate(c.Value, now.Location())
	open := gjson.GetBytes(c.Value, "from").Str != "" && gjson.GetBytes(c.Value, "to").Str == ""
	switch {
	case dated && !open:
		return endOf(last)
	case begins.MatchString(c.Text):
		return nil
	}
	for _, span := range spans {
		if span.words.MatchString(c.Text) {
			return endOf(now.AddDate(0, 0, span.days(now)))
		}
	}

	return nil
}

// untilSunday counts the days to the Sunday that ends this week; on a Sunday it is 0.
func untilSunday(today time.Time) int { return (7 - int(today.Weekday())) % 7 }

func endOf(day time.Time) *time.Time {
	end := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, day.Location())

	return &end
}

// lastDate finds the latest date in a constraint's value.
func lastDate(value json.RawMessage, location *time.Location) (last time.Time, found bool) {
	for _, text := range dates.FindAllSubmatch(value, -1) {
		if day, err := time.ParseInLocation(time.DateOnly, string(text[1]), location); err == nil && day.After(last) {
			last = day
		}
	}

	return last, !last.IsZero()
}
