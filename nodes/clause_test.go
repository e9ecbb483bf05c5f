package nodes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/nodes"
)

// A plan counts, adds up, orders and cuts off in words like those of SQL. What says anything else is left to Act.
func TestPlannedCallsSayHow(t *testing.T) {
	t.Parallel()
	for how, args := range map[string]string{
		`"tool":"db_analyze","how":""`:                                                 `{"aggregates":[{"fn":"count","column":"","as":"count"}]}`,
		`"tool":"db_analyze","how":"group by tint"`:                                    `{"aggregates":[{"fn":"count","column":"","as":"count"}],"group_by":["tint"]}`,
		`"tool":"db_analyze","how":"Count(*), SUM(price) AS Total","detail":"summary"`: `{"aggregates":[{"fn":"count","column":"","as":"count"},{"fn":"sum","column":"price","as":"total"}]}`,
		`"tool":"db_analyze","how":"pot_id.kind, sum(pot_id.price) group by pot_id.kind, made_at:month order by sum(pot_id.price) desc limit 5"`: `{
			"aggregates":[{"fn":"sum","column":"pot_id.price","as":"sum_pot_id_price"}],"group_by":["pot_id.kind","made_at:month"],"order_by":"sum_pot_id_price","order_dir":"desc","limit":5}`,
		`"tool":"db_analyze","how":"max(made_at) order by max_made_at"`:         `{"aggregates":[{"fn":"max","column":"made_at","as":"max_made_at"}],"order_by":"max_made_at","order_dir":"asc"}`,
		`"tool":"db_analyze","aggregates":[{"fn":"count"}],"group_by":["tint"]`: `{"aggregates":[{"fn":"count"}],"group_by":["tint"]}`,
		`"tool":"db_analyze","how":"SELECT tint, SUM(price) AS total GROUP BY tint ORDER BY total DESC NULLS LAST LIMIT 3"`: `{
			"aggregates":[{"fn":"sum","column":"price","as":"total"}],"group_by":["tint"],"order_by":"total","order_dir":"desc","limit":3}`,
		`"tool":"db_analyze","how":"tint, sum(price) as total, count group by tint order by SUM(price) desc"`: `{
			"aggregates":[{"fn":"sum","column":"price","as":"total"},{"fn":"count","column":"","as":"count"}],"group_by":["tint"],"order_by":"total","order_dir":"desc"}`,
		`"tool":"db_read","how":"order by made_at DESC limit 5"`:                            `{"order_by":"made_at","order_dir":"desc","limit":5}`,
		`"tool":"db_read","how":"order by priority, made_at DESC NULLS LAST, name limit 5"`: `{"order_by":"priority asc, made_at desc, name asc","order_dir":"","limit":5}`,
		`"tool":"db_analyze","how":"count, sum(price) group by tint order by count desc, sum(price), tint"`: `{
			"aggregates":[{"fn":"count","column":"","as":"count"},{"fn":"sum","column":"price","as":"sum_price"}],"group_by":["tint"],"order_by":"count desc, sum_price asc, tint asc","order_dir":""}`,
		`"tool":"db_analyze","how":"sum(pieces * pot_id.price) group by made_at:month order by sum(pieces * pot_id.price) desc"`: `{
			"aggregates":[{"fn":"sum","column":"pieces * pot_id.price","as":"sum_pieces_pot_id_price"}],"group_by":["made_at:month"],"order_by":"sum_pieces_pot_id_price","order_dir":"desc"}`,
		`"tool":"db_read","how":"limit 5"`: `{"limit":5}`,
		`"tool":"db_read","how":"null"`:    `{}`,
		`"tool":"db_read","how":"count"`:   "",
		`"tool":"db_analyze","how":"count(distinct pot_id.kind) as kinds, Count ( DISTINCT made_at:day ) group by tint order by count(distinct made_at:day) desc"`: `{
			"aggregates":[{"fn":"count_distinct","column":"pot_id.kind","as":"kinds"},{"fn":"count_distinct","column":"made_at:day","as":"count_distinct_made_at_day"}],
			"group_by":["tint"],"order_by":"count_distinct_made_at_day","order_dir":"desc"}`,
		`"tool":"db_analyze","how":"count as n group by tint having n > 1"`: "",
		`"tool":"db_read","how":"having count > 1 order by tint"`:           "",
		`"tool":"db_analyze","how":"sum(pieces * price * (1 - discount / 100)) as total group by tint order by total desc"`: `{
			"aggregates":[{"fn":"sum","column":"pieces * price * (1 - discount / 100)","as":"total"}],"group_by":["tint"],"order_by":"total","order_dir":"desc"}`,
		`"tool":"db_analyze","how":"tint, sum(price * (1 - coalesce(cut, 0))), count group by tint"`: `{
			"aggregates":[{"fn":"sum","column":"price * (1 - coalesce(cut, 0))","as":"sum_price_1_coalesce_cut_0"},{"fn":"count","column":"","as":"count"}],"group_by":["tint"]}`,
		`"tool":"db_analyze","how":"count_distinct(tint)"`: `{"aggregates":[{"fn":"count_distinct","column":"tint","as":"count_distinct_tint"}]}`,
		`"tool":"db_analyze","how":"sum(distinct price)"`:  "",
		`"tool":"db_analyze","how":"median(price)"`:        "",
	} {
		out, err := nodes.Understand(t.Context(), says(`{"intent":"read","calls":[{"step":0,"table":"vases","from_ref":"","set":[],`+how+`}]}`), togetherInput())
		require.NoError(t, err)
		steps, calls := out.Think.Steps, out.Think.Steps[0].ReadyCalls()
		require.Len(t, steps, 1, how)
		if args == "" {
			require.Empty(t, calls, how)

			continue
		}
		want := `{"table":"vases"` + map[bool]string{true: ",", false: ""}[args != "{}"] + args[1:]
		require.JSONEq(t, want, string(calls[0].Args), how)
	}
}

// An analysis that is written out is a step of its own, and counts rows that need not be loaded.
func TestAnalysisInAPlanOfCalls(t *testing.T) {
	t.Parallel()
	out, err := nodes.Understand(t.Context(), says(`{"intent":"read","calls":[
		{"step":0,"tool":"db_read","table":"vases","filters":[],"how":"order by made_at limit 3"},
		{"step":0,"tool":"db_analyze","table":"vases","filters":[{"field":"id","op":"=","value":"vase_1"}],"how":"sum(price) group by tint"}]}`), togetherInput())
	require.NoError(t, err)
	plan := nodesReady(out)
	require.Len(t, plan.Steps, 2)
	require.Equal(t, "Read the vases: order by made_at limit 3", plan.Steps[0].Description)
	require.Equal(t, "Figures of the vases with id = vase_1: sum(price) group by tint", plan.Steps[1].Description)
	require.Equal(t, "analyze refs", plan.Steps[1].Type+" "+plan.Steps[1].Needs)
}
