package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// ErrUnwell is returned if a check of doctor failed, for the exit status.
var ErrUnwell = errors.New("not all is well")

// Finding is what one check of doctor found.
type Finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is wrong and how to fix it, or the fact that was checked
}

// FoundDomain opens a domain and finds whether it matches the database and was tried. The domain is nil if it cannot be opened, or
// workers run another one.
func FoundDomain(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) (*domain.Domain, Finding) {
	bound, err := OpenDomain(ctx, pool, nameOrPath)
	name := nameOrPath
	if bound != nil {
		name = bound.Name
	}
	others, asked := db.New().WorkerOtherDomains(ctx, pool, name)
	if others != "" && (bound != nil || domain.BuiltIn(name)) {
		return nil, Finding{Check: "domain", Detail: "the workers run the declaration " + others + ", and " + name + " was to be checked: set ALFRED_DOMAIN as they have it"}
	}
	if err = cmp.Or(err, asked); err == nil {
		err = CheckProven(ctx, pool, nameOrPath)
	}

	return bound, Found("domain", err, nameOrPath+" matches the database")
}

// Found is a check's finding: the error with what can be done about it, or fine.
func Found(check string, err error, fine string) Finding {
	if err != nil {
		detail := err.Error()
		if hint := pg.Hint(err); hint != "" {
			detail += "; " + hint
		}

		return Finding{Check: check, Detail: detail}
	}

	return Finding{Check: check, OK: true, Detail: fine}
}

// Report prints findings; it returns [ErrUnwell] if one failed.
func Report(console *Console, findings []Finding, asJSON bool) error {
	var unwell error
	words := ""
	for _, f := range findings {
		word := "ok  "
		if !f.OK {
			word, unwell = "FAIL", ErrUnwell
		}
		words += fmt.Sprintf("%s %-10s %s\n", word, f.Check, f.Detail)
	}

	return cmp.Or(console.Answer(asJSON, map[string]any{"checks": findings}, words), unwell)
}

// PrintSettings prints what the program reads, with secrets masked, and variables that look like settings but are not.
func PrintSettings(console *Console, e settings.Env, by settings.Program, asJSON bool) error {
	shown, unknown := settings.Show(e, by), settings.Unknown(e)
	var words strings.Builder
	table := tabwriter.NewWriter(&words, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tVALUE\tDEFAULT\tMEANING")
	for _, s := range shown {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, cmp.Or(s.Value, "-"), cmp.Or(s.Default, "-"), strings.ReplaceAll(s.Meaning, "`", ""))
	}
	for _, name := range unknown {
		fmt.Fprintf(table, "%s\t\t\tno setting: nobody reads it\n", name)
	}

	if err := table.Flush(); err != nil {
		return err
	}

	return console.Answer(asJSON, map[string]any{"settings": shown, "unknown": append([]string{}, unknown...)}, words.String())
}
