package eval

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Report is a run and, optionally, another one to compare it with.
type Report struct {
	Run   *Run `json:"run"`
	Other *Run `json:"other,omitempty"`
}

var errNoRun = errors.New("the report holds no run")

// ReadReport reads the run in a report that [Report.JSON] wrote.
func ReadReport(text []byte) (*Run, error) {
	report := &Report{}
	if err := json.Unmarshal(text, report); err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	if report.Run == nil || len(report.Run.PassHat) == 0 {
		return nil, errNoRun
	}

	return report.Run, nil
}

// Verdict says why a run is not good enough, or "": too few trials passed, fewer than in the other run, or a case is
// broken.
func (r *Report) Verdict(atLeast float64) string {
	switch got := r.Run.PassHat[0]; {
	case r.Run.Broken > 0:
		return fmt.Sprintf("%d of %d cases could not be run", r.Run.Broken, len(r.Run.Cases))
	case got < atLeast:
		return fmt.Sprintf("%.1f %% of the trials passed, not %.1f %%", 100*got, 100*atLeast)
	case r.Other != nil && got < r.Other.PassHat[0]:
		return fmt.Sprintf("%.1f %% of the trials passed, and %.1f %% of those of %s", 100*got, 100*r.Other.PassHat[0], r.Other.Model)
	}

	return ""
}

// Row is a case in both runs.
type Row struct {
	*Result

	Other *Result // nil without another run, or if that has no such case
	Trend string  // better or worse, if another share of the trials passed; else ""
}

// Rows returns the cases in suite order.
func (r *Report) Rows() []Row {
	before := map[string]*Result{}
	if r.Other != nil {
		for i := range r.Other.Cases {
			before[r.Other.Cases[i].Case] = &r.Other.Cases[i]
		}
	}
	rows := make([]Row, len(r.Run.Cases))
	for i := range r.Run.Cases {
		now := &r.Run.Cases[i]
		rows[i] = Row{Result: now, Other: before[now.Case]}
		if was := rows[i].Other; was != nil {
			rows[i].Trend = [...]string{"worse", "", "better"}[1+cmp.Compare(now.Successes()*len(was.Trials), was.Successes()*len(now.Trials))]
		}
	}

	return rows
}

// Runs returns the one or two runs, this one first.
func (r *Report) Runs() []*Run {
	if r.Other == nil {
		return []*Run{r.Run}
	}

	return []*Run{r.Run, r.Other}
}

// JSON writes the whole report.
func (r *Report) JSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}

	return nil
}

// Text writes what did not pass, with what happened in its turns, and the totals.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	for i := range r.Run.Cases {
		r.Run.Cases[i].text(&b)
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MODEL\tPASSED\tFAILED\tBROKEN\tPASS^K\tCALLS\tTOKENS\tUSD\tSECONDS")
	for _, run := range r.Runs() {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%d\t%d\t%.4f\t%.1f\n", run.Model, run.Passed, run.Failed, run.Broken, run.PassHats(), run.Calls, run.Tokens, run.USD, run.Seconds)
	}
	_ = table.Flush() // into memory
	for _, run := range r.Runs() {
		if run.OtherTokens > 0 {
			fmt.Fprintf(&b, "the models that played people and judged %s used %d tokens, %.4f USD\n", run.Model, run.OtherTokens, run.OtherUSD)
		}
	}
	for _, row := range r.Rows() {
		if row.Trend != "" {
			fmt.Fprintf(&b, "%-6s %s: %d of %d, was %d of %d\n", row.Trend, row.Case, row.Successes(), len(row.Trials), row.Other.Successes(), len(row.Other.Trials))
		}
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}

	return nil
}

// PassHats formats pass^1 to pass^k.
func (r *Run) PassHats() string {
	hats := make([]string, len(r.PassHat))
	for k, hat := range r.PassHat {
		hats[k] = fmt.Sprintf("%.3f", hat)
	}

	return strings.Join(hats, " ")
}

// text prints a case that did not pass.
func (r *Result) text(b *strings.Builder) {
	if t := r.FirstFailure(); t != nil {
		fmt.Fprintf(b, "%s %s (%d of %d trials passed)\n%s\n", strings.ToUpper(t.Outcome), r.Case, r.Successes(), len(r.Trials), t.FailureReason("  "))
	}
}

// FailureReason says what went wrong, and what happened.
func (t *Trial) FailureReason(indent string) string {
	var b strings.Builder
	if t.Error != "" {
		fmt.Fprintf(&b, "%s%s\n", indent, t.Error)
	}
	for _, f := range t.Faults {
		fmt.Fprintf(&b, "%s%s\n", indent, f)
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		fmt.Fprintf(&b, "%sturn %d: %s\n", indent, turn.Number, oneLine(turn.Message))
		for _, line := range turn.Timeline {
			if line.Kind != "message" {
				fmt.Fprintf(&b, "%s  %-9s %s\n", indent, line.Kind, oneLine(line.Text))
			}
		}
		if len(turn.Timeline) == 0 {
			fmt.Fprintf(&b, "%s  reply     %s\n", indent, oneLine(turn.Reply))
		}
	}

	return b.String()
}

// JUnit writes each case as a test, in the format that CI systems read: failed as a failure, broken as an error.
func (r *Report) JUnit(out io.Writer) error {
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}

	return writePage(out, "junit.xml", r.Run)
}

// Reason is the first thing that went wrong.
func (t *Trial) Reason() string {
	if len(t.Faults) > 0 {
		return t.Faults[0].String()
	}

	return t.Error
}

// clean removes what XML cannot contain.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == '\uFFFE' || r == '\uFFFF' {
			return -1
		}

		return r
	}, text)
}
