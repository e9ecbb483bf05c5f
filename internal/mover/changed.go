package mover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
)

// bringChanged brings the rows that were written since all were copied, as they are now.
func (u *move) bringChanged(ctx context.Context, from, to pgx.Tx) error {
	coming := u.comingAgain()
	for i, t := range slices.Backward(u.tables) {
		var err error
		switch {
		case coming[i].beside:
			err = u.stage(ctx, from, to, &t, staged(i))
		case coming[i].rows != "":
			_, err = to.Exec(ctx, `DELETE FROM `+t.name+` AS x WHERE `+coming[i].rows)
		}
		if err != nil {
			return fmt.Errorf("delete from %s: %w", t.name, err)
		}
	}
	copied := u.report.Rows
	for i, t := range u.tables {
		var err error
		switch {
		case coming[i].beside:
			err = u.replaceRows(ctx, to, &t, staged(i))
		case coming[i].rows != "":
			err = u.bring(ctx, from, to, &t, coming[i].rows)
		}
		if err != nil {
			return err
		}
	}
	u.report.Changed += u.report.Rows - copied
	for _, t := range u.tables {
		if t.changed != "" && t.name == calls {
			return u.shareParts(ctx, from, to, t.among("c"))
		}
	}

	return nil
}

// again is which rows of a table come again, as a condition over x; empty for none. Those that come beside the table leave its
// rows in place, which get their values.
type again struct {
	rows   string
	beside bool
}

// comingAgain decides for each table. Rows to which no others refer are replaced; of the engine's others, values are set. The
// domain's others, whose triggers might not leave an update as it is, are replaced by tables, with those that refer to them.
func (u *move) comingAgain() []again {
	whole := u.replacedWhole()
	coming := make([]again, len(u.tables))
	for i, t := range u.tables {
		switch {
		case whole[t.name]:
			coming[i] = again{rows: t.rows}
		case t.changed != "":
			coming[i] = again{t.among("x"), u.referred(t.name)}
		}
	}

	return coming
}

// calls is the table whose rows name parts that users share.
const calls = "alfred.llm_calls"

// referred: rows of others refer to its rows.
func (u *move) referred(name string) bool {
	return slices.ContainsFunc(u.tables, func(t table) bool { return slices.Contains(t.refers, name) })
}

// replacedWhole are the tables of the domain that cannot be replaced by rows, and those that refer to them.
func (u *move) replacedWhole() map[string]bool {
	whole := map[string]bool{}
	for _, t := range u.tables { // in order: what is referred to stands before
		refers := slices.ContainsFunc(u.tables, func(other table) bool { return whole[other.name] && slices.Contains(t.refers, other.name) })
		if t.entity != nil && (refers || u.referred(t.name) && t.changed != "") {
			whole[t.name] = true
		}
	}

	return whole
}

// staged names the table in which changed rows of another arrive.
func staged(i int) string { return fmt.Sprint("pg_temp.arriving_", i) }

// stage brings rows beside the table, and deletes those that are no more.
func (u *move) stage(ctx context.Context, from, to pgx.Tx, t *table, into string) error {
	if _, err := to.Exec(ctx, `CREATE TEMPORARY TABLE `+strings.TrimPrefix(into, "pg_temp.")+` ON COMMIT DROP AS SELECT `+t.columns+` FROM `+t.name+` WITH NO DATA`); err != nil {
		return fmt.Errorf("make room: %w", err)
	}
	n, err := stream(ctx, from, to, t.name, into, t.columns, t.columns, t.among("x"))
	if err != nil {
		return u.copyError(t, err)
	}
	u.report.Rows, u.report.Changed = u.report.Rows+n, u.report.Changed+n
	_, err = to.Exec(ctx, `DELETE FROM `+t.name+` AS x WHERE `+t.among("x")+` AND NOT EXISTS (SELECT FROM `+into+` AS n WHERE `+t.same()+`)`)

	return err
}

// replaceRows puts the rows that have arrived in place of the table's, in one statement: a row may refer to a new one of its own
// table (what has been replaced, to what replaces it), and a new one may have a unique value that another has given up.
func (u *move) replaceRows(ctx context.Context, to pgx.Tx, t *table, arrived string) error {
	if _, err := to.Exec(ctx, `WITH written AS (UPDATE `+t.name+` AS x SET (`+t.columns+`) = (SELECT `+t.columns+` FROM `+arrived+` AS n WHERE `+t.same()+`) WHERE `+t.among("x")+` RETURNING 1)
		INSERT INTO `+t.name+` (`+t.columns+`) OVERRIDING SYSTEM VALUE SELECT `+t.columns+` FROM `+arrived+` AS n
		WHERE NOT EXISTS (SELECT FROM `+t.name+` AS x WHERE `+t.same()+`) AND (SELECT count(*) FROM written) >= 0`); err != nil {
		return u.copyError(t, err)
	}

	return nil
}

// among is a condition: the user's rows that have changed.
func (t *table) among(alias string) string {
	var here, there, typed []string
	for _, k := range t.key {
		name := quoted(k.Name)
		here, there, typed = append(here, alias+"."+name), append(there, "k."+name), append(typed, name+" "+k.Type)
	}

	return `(` + strings.Join(here, ", ") + `) IN (SELECT ` + strings.Join(there, ", ") + ` FROM json_to_recordset(` + pg.Literal(t.changed) + `) AS k (` +
		strings.Join(typed, ", ") + `)) AND ` + alias + `.` + t.owned
}

// same is a condition: the same row, as x and as n.
func (t *table) same() string {
	equal := make([]string, len(t.key))
	for i, k := range t.key {
		name := quoted(k.Name)
		equal[i] = "n." + name + " = x." + name
	}

	return strings.Join(equal, " AND ")
}
