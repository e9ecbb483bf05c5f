package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// A filter by the name of a number asks for results, as SQL's HAVING does: who has more than one order took a list of everybody, cut
// off where there are many.
func TestAnalysesAreLimitedByTheirNumbers(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "till", `CREATE SCHEMA till;
		CREATE TABLE till.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE till.sales (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES till.users, buyer text NOT NULL, price numeric(8, 2) NOT NULL, n integer, sold_on date);
		INSERT INTO till.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO till.sales (user_id, buyer, price, n) VALUES (1, 'Ann', 10, 1), (1, 'Ann', 5.5, 1), (1, 'Bob', 20, 1), (1, 'Cem', 1, 1), (1, 'Cem', 1, 1), (1, 'Cem', 1, 9), (2, 'Dan', 1, 1), (2, 'Dan', 1, 1)`, nil)
	analyze := func(as, filters string) string {
		return `{"table": "sales", "group_by": ["buyer"], "order_by": "buyer", "aggregates": [{"fn": "count", "as": "` + as + `"}, {"fn": "sum", "column": "price"}, {"fn": "max", "column": "sold_on"}], "filters": [` + filters + `]}`
	}
	for filters, want := range map[string][]string{
		`{"field": "many", "op": ">", "value": 1}`:                                                    {"Ann", "Cem"},
		`{"field": "many", "op": ">=", "value": "2"}, {"field": "sum_price", "op": "<", "value": 15}`: {"Cem"},
		`{"field": "price", "op": "<", "value": 15}, {"field": "many", "op": "=", "value": 1}`:        nil,
		`{"field": "sum_price", "op": "!=", "value": 15.50}`:                                          {"Bob", "Cem"},
		`{"field": "price", "op": ">", "value": 5.5}, {"field": "many", "op": "<>", "value": 2}`:      {"Ann", "Bob"},
	} {
		result := b.ok("analyze", vocab.ToolAnalyze, analyze("many", filters))
		var buyers []string
		for _, row := range b.rows(result) {
			buyers = append(buyers, row["buyer"].(string))
		}
		require.Equal(t, want, buyers, filters)
		require.Equal(t, len(want), result.RowCount, filters)
	}
	require.Len(t, b.rows(b.ok("analyze", vocab.ToolAnalyze, analyze("n", `{"field": "n", "op": ">", "value": 1}`))), 1, "a column is the column")
	for _, filter := range []string{`{"field": "many", "op": "in", "value": ["1"]}`, `{"field": "many", "op": ">", "value": "lots"}`, `{"field": "max_sold_on", "op": ">", "value": 1}`} {
		require.Contains(t, b.refused("analyze", vocab.ToolAnalyze, analyze("many", filter), crud.CodeBadFilter), "is a result", filter)
	}
}

// An order names a result by its column alone where only one is meant: of sales by month, ordered by the day they were sold on, and
// of counts with a name of their own.
func TestAnalysesAreOrderedByWhatOnlyOneResultMeans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tasks := func(order string) string {
		return `{"table": "meal_plans", "group_by": ["date:month", "recipe_id.cuisine"], "order_by": "` + order + `", "aggregates": [{"fn": "count", "as": "n"}, {"fn": "max", "column": "date", "as": "last"}, {"fn": "sum", "column": "servings"}]}`
	}
	for _, order := range []string{"month desc", "cuisine", "count desc", "servings", "max(date)", "sum(servings) desc, month", "date:month"} {
		b.ok("analyze", vocab.ToolAnalyze, tasks(order))
	}
	for _, order := range []string{"date", "recipe_id", "meal_type", "week"} { // the first has two readings
		require.Equal(t, "order_by has to be one of date:month, recipe_id.cuisine, n, last, sum_servings.", b.refused("analyze", vocab.ToolAnalyze, tasks(order), crud.CodeBadArgument), order)
	}
	monthly := `{"table": "meal_plans", "group_by": ["date:month"], "order_by": "date desc", "aggregates": [{"fn": "count"}]}`
	b.exec(`INSERT INTO kitchen.meal_plans (user_id, date, meal_type) VALUES ($1, '2031-01-02', 'dinner'), ($1, '2030-05-02', 'dinner')`, b.scope.UserID)
	require.Equal(t, []string{"2031-01", "2030-05"}, column[string](b.rows(b.ok("analyze", vocab.ToolAnalyze, monthly)), "date:month")[:2])
}

// What lines cost is a product: a sum of prices alone was told as the turnover.
func TestAnalysesMultiplyColumns(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "kiosk", `CREATE SCHEMA kiosk;
		CREATE TABLE kiosk.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE kiosk.goods (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kiosk.users, name text NOT NULL, price numeric(65, 30) NOT NULL);
		CREATE TABLE kiosk.sales (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kiosk.users, good_id integer NOT NULL REFERENCES kiosk.goods, pieces integer NOT NULL, sold_on date NOT NULL, kilos numeric(8, 2) NOT NULL DEFAULT 1.5);
		INSERT INTO kiosk.users (name) VALUES ('Ada');
		INSERT INTO kiosk.goods (user_id, name, price) VALUES (1, 'Mug', 4.5), (1, 'Pen', 1.2);
		INSERT INTO kiosk.sales (user_id, good_id, pieces, sold_on) VALUES (1, 1, 2, '2026-01-05'), (1, 2, 10, '2026-01-09'), (1, 1, 1, '2026-02-01')`, nil)
	rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "sales", "group_by": ["sold_on:month"], "aggregates": [{"fn": "sum", "column": "pieces * good_id.price"}, {"fn": "max", "column": "pieces*pieces", "as": "most"}]}`))
	require.Len(t, rows, 2)
	require.Equal(t, "21 100", sprintf("%v %v", rows[0]["sum_pieces_good_id_price"], rows[0]["most"]))
	require.Equal(t, "4.5 1", sprintf("%v %v", rows[1]["sum_pieces_good_id_price"], rows[1]["most"]))
	b.ok("analyze", vocab.ToolAnalyze, `{"table": "sales", "aggregates": [{"fn": "sum", "column": "kilos * kilos", "as": "n"}]}`)
	require.Equal(t, `[{"n": 6.75}]`, query[string](b, `SELECT rows::text FROM turn_step_results WHERE turn_id = $1 ORDER BY step DESC, call DESC LIMIT 1`, b.scope.TurnID), "and none that both columns add")
	for column, code := range map[string]crud.Code{
		"pieces * sold_on": crud.CodeBadArgument, "pieces * good_id": crud.CodeBadArgument, "pieces * weight": crud.CodeUnknownColumn, "*pieces": crud.CodeBadArgument,
		"pieces * (kilos": crud.CodeBadArgument, "pieces) * (kilos": crud.CodeBadArgument, "pieces *": crud.CodeBadArgument, "2 * 3": crud.CodeBadArgument, "pieces (kilos)": crud.CodeBadArgument, "(pieces) kilos": crud.CodeBadArgument,
	} {
		b.refused("analyze", vocab.ToolAnalyze, `{"table": "sales", "aggregates": [{"fn": "sum", "column": "`+column+`"}]}`, code)
	}
}

// What is not paid in full is a comparison of two columns: a model that wrote it as it would in SQL was told that a column has to be a
// number, and took those who have paid nothing.
func TestFiltersCompareColumns(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "dues", `CREATE SCHEMA dues;
		CREATE TABLE dues.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE dues.clubs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES dues.users, name text NOT NULL, minimum integer NOT NULL, password text);
		CREATE TABLE dues.fees (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES dues.users, club_id integer NOT NULL REFERENCES dues.clubs, name text NOT NULL, "Amount" numeric(19, 4) NOT NULL,
			"Paid" double precision, due date NOT NULL, paid_on date);
		INSERT INTO dues.users (name) VALUES ('Ada');
		INSERT INTO dues.clubs (user_id, name, minimum) VALUES (1, 'Rowers', 50);
		INSERT INTO dues.fees (user_id, club_id, name, "Amount", "Paid", due, paid_on) VALUES (1, 1, 'all', 60, 60, '2026-03-01', '2026-04-01'), (1, 1, 'half', 60, 30, '2026-03-01', '2026-02-01'), (1, 1, 'none', 40, NULL, '2026-03-01', NULL)`, nil)
	for filter, want := range map[string][]string{
		`"Paid", "op": "<", "value": "Amount"`: {"half"}, `"Paid", "op": "=", "value": "Amount"`: {"all"}, `"Paid", "op": "!=", "value": "Amount"`: {"half"},
		`"paid_on", "op": ">", "value": "due"`: {"all"}, `"Amount", "op": "<", "value": "club_id.minimum"`: {"none"}, `"club_id.minimum", "op": ">=", "value": "Amount"`: {"none"},
		`"name", "op": "=", "value": "Amount"`: nil, // a name may be any word
	} {
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "fees", "order_by": "id", "filters": [{"field": `+filter+`}]}`))
		require.ElementsMatch(t, want, column[string](rows, "name"), filter)
	}
	n := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "clubs", "aggregates": [{"fn": "count"}], "filters": [{"field": "fees", "op": "exists", "value": ["Paid < Amount"]}]}`))
	require.EqualValues(t, 1, n[0]["count"])
	for _, value := range []string{"due", "name", "club_id", "weight", "club_id.password"} {
		b.refused("read", vocab.ToolRead, `{"table": "fees", "filters": [{"field": "Paid", "op": "<", "value": "`+value+`"}]}`, crud.CodeBadValue)
	}
}

// A total of lines with a discount took a model that reads all of them: only products could be added up.
func TestAnalysesComputeFormulas(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "stall", `CREATE SCHEMA stall;
		CREATE TABLE stall.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stall.lines (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES stall.users, name text NOT NULL, pieces integer NOT NULL, price numeric NOT NULL, discount integer, grams integer NOT NULL DEFAULT 1500, protein real NOT NULL DEFAULT 8.1, km double precision NOT NULL DEFAULT 0.1, "Unit Cost" integer NOT NULL DEFAULT 2);
		INSERT INTO stall.users (name) VALUES ('Ada');
		INSERT INTO stall.lines (user_id, name, pieces, price, discount) VALUES (1, 'Mug', 2, 4.5, 10), (1, 'Pen', 10, 1.2, 0), (1, 'Cup', 1, 9, NULL)`, nil)
	for column, want := range map[string]string{
		"pieces * price * (1 - discount / 100)":        `{"n": 20.1, "rows_not_in_n": 1}`, // 2 * 4.5 * 0.9 + 12, whatever the cup costs
		"pieces*price*(1-COALESCE( discount, 0 )/100)": `{"n": 29.1}`,
		"grams / 1000":              `{"n": 4.5}`,
		"protein":                   `{"n": 24.3}`,
		"km":                        `{"n": 0.3}`, // as they are read, not 0.30000000000000004
		"-pieces + (price - 1) * 2": `{"n": 10.4}`,
		"price / (pieces - 2)":      `{"n": -8.85, "rows_not_in_n": 1}`,
		"'Unit Cost' * pieces":      `{"n": 26}`,
	} {
		b.ok("analyze", vocab.ToolAnalyze, `{"table": "lines", "aggregates": [{"fn": "sum", "column": "`+column+`", "as": "n"}]}`)
		require.JSONEq(t, `[`+want+`]`, query[string](b, `SELECT rows::text FROM turn_step_results WHERE turn_id = $1 ORDER BY step DESC, call DESC LIMIT 1`, b.scope.TurnID), column)
	}
}

// Hours are added up from when they began and ended, and days from one date to another: whatever a program notes of time, nothing else
// says how long it was.
func TestAnalysesMeasureTime(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "shifts", `CREATE SCHEMA shifts;
		CREATE TABLE shifts.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE shifts.entries (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES shifts.users, name text NOT NULL, rate numeric NOT NULL, start timestamptz NOT NULL, "end" timestamptz, pause interval NOT NULL, due date NOT NULL, opens time NOT NULL, closes time NOT NULL);
		INSERT INTO shifts.users (name) VALUES ('Ada');
		INSERT INTO shifts.entries (user_id, name, rate, start, "end", pause, due, opens, closes) VALUES
			(1, 'Mon', 40, '2026-03-02 09:00Z', '2026-03-02 17:00Z', '30 min', '2026-03-01', '09:00', '17:30'), (1, 'Tue', 40, '2026-03-03 22:00Z', '2026-03-04 23:15Z', '45 min', '2026-03-01', '09:00', '12:00'),
			(1, 'now', 40, '2026-03-05 09:00Z', NULL, '0 min', '2026-03-09', '09:00', '09:00')`, nil)
	for asked, want := range map[string]string{
		`"fn": "sum", "column": "end - start"`:                                 `{"sum_end_start_hours": 33.25, "rows_not_in_sum_end_start_hours": 1}`,
		`"fn": "avg", "column": "end - start", "as": "mean"`:                   `{"mean_hours": 16.63}`,
		`"fn": "sum", "column": "(end - start - pause) * rate", "as": "worth"`: `{"worth": 1280, "rows_not_in_worth": 1}`,
		`"fn": "sum", "column": "pause", "as": "hours"`:                        `{"hours": 1.25}`,
		`"fn": "max", "column": "start - due"`:                                 `{"max_start_due_days": 2}`,
		`"fn": "sum", "column": "closes - opens"`:                              `{"sum_closes_opens_hours": 11.5}`,
		`"fn": "count", "column": "end - start", "as": "ended"`:                `{"ended": 2}`,
		`"fn": "sum", "column": "(end - start) * 60", "as": "minutes"`:         `{"minutes": 1995, "rows_not_in_minutes": 1}`,
	} {
		b.ok("analyze", vocab.ToolAnalyze, `{"table": "entries", "aggregates": [{`+asked+`}]}`)
		require.JSONEq(t, `[`+want+`]`, query[string](b, `SELECT rows::text FROM turn_step_results WHERE turn_id = $1 ORDER BY step DESC, call DESC LIMIT 1`, b.scope.TurnID), asked)
	}
	b.ok("analyze", vocab.ToolAnalyze, `{"table": "entries", "aggregates": [{"fn": "sum", "column": "end - start", "as": "worked"}], "group_by": ["name"], "order_by": "worked", "order_dir": "desc"}`)
	b.ok("analyze", vocab.ToolAnalyze, `{"table": "entries", "filters": [{"field": "worked", "op": ">", "value": 10}], "aggregates": [{"fn": "sum", "column": "end - start", "as": "worked"}], "group_by": ["name"]}`)
	require.JSONEq(t, `[{"name": "Tue", "worked_hours": 25.25}]`, query[string](b, `SELECT rows::text FROM turn_step_results WHERE turn_id = $1 ORDER BY step DESC, call DESC LIMIT 1`, b.scope.TurnID))
	b.refused("analyze", vocab.ToolAnalyze, `{"table": "entries", "aggregates": [{"fn": "sum", "column": "start - opens"}]}`, crud.CodeBadArgument)
}
