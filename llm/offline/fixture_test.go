package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/domain"
	"alfred/llm"
	"alfred/nodes"
)

// kitchen is the reference domain as a bind to its catalog would give it: words
// from the declaration, columns from here.
func kitchen(tb testing.TB) *domain.Domain {
	tb.Helper()
	fsys, file := domain.Find("kitchen")
	decl, err := domain.Load(fsys, file)
	require.NoError(tb, err)
	d := &domain.Domain{Name: decl.Name, Offline: decl.Offline}
	byType := map[string]*domain.Entity{}
	for _, e := range decl.Entities {
		entity := &domain.Entity{
			Type: e.Type, Table: e.Table, Name: e.Name, Plural: e.Plural, Aliases: e.Aliases, Reference: e.Reference, Empty: e.Empty,
			Columns: kitchenColumns()[e.Table], Singleton: e.Type == "pref",
		}
		entity.Semantic, err = domain.ParseTemplate(e.Semantic)
		require.NoError(tb, err)
		entity.Label, err = domain.ParseTemplate(e.Label)
		require.NoError(tb, err)
		entity.Display, err = domain.ParseTemplate(e.Display)
		require.NoError(tb, err)
		if e.Match != nil {
			entity.Match = &domain.Match{Column: e.Match.Column}
		}
		byType[e.Type] = entity
		d.Entities = append(d.Entities, entity)
	}
	for _, c := range [][3]string{{"meal", "recipe_id", "recipe"}, {"task", "recipe_id", "recipe"}, {"task", "meal_plan_id", "meal"}, {"log", "recipe_id", "recipe"}, {"ri", "recipe_id", "recipe"}} {
		byType[c[0]].Column(c[1]).FK = &domain.ForeignKey{Entity: byType[c[2]]}
	}
	byType["recipe"].Children = []*domain.Child{{Entity: byType["ri"], FK: byType["ri"].Column("recipe_id")}}
	for _, s := range decl.Subdomains {
		d.Subdomains = append(d.Subdomains, &domain.Subdomain{Name: s.Name, Aliases: s.Aliases, Tables: s.Tables, Readable: s.Readable})
	}
	return d
}

// kitchenColumns are name:kind[!][=enum,...] per table; ! is NOT NULL.
func kitchenColumns() map[string][]*domain.Column {
	return map[string][]*domain.Column{
		"recipes":            columns("id:uuid! name:text! description:text cuisine:text difficulty:text=easy,medium,hard prep_time_minutes:number cook_time_minutes:number servings:number instructions:array! tags:array! health_tags:array! total_time_minutes:number*"),
		"recipe_ingredients": columns("id:uuid! recipe_id:uuid! name:text! quantity:number unit:text notes:text category:text is_optional:bool!"),
		"ingredients":        columns("id:uuid! name:text! category:text!"),
		"inventory":          columns("id:uuid! name:text! quantity:number unit:text location:text=pantry,fridge,freezer,counter,cabinet category:text expiry_date:date purchase_date:date notes:text"),
		"shopping_list":      columns("id:uuid! name:text! quantity:number unit:text category:text is_purchased:bool! notes:text"),
		"meal_plans":         columns("id:uuid! date:date! meal_type:text!=breakfast,lunch,dinner,snack,other recipe_id:uuid servings:number! notes:text slot_order:number*"),
		"tasks":              columns("id:uuid! title:text! due_date:date category:text!=prep,shopping,cleanup,other completed:bool! recipe_id:uuid meal_plan_id:uuid"),
		"preferences":        columns("id:uuid! dietary_restrictions:array! allergies:array! disliked_ingredients:array! favorite_cuisines:array! household_adults:number! time_budget_minutes:number!"),
		"cooking_log":        columns("id:uuid! recipe_id:uuid cooked_at:timestamp! servings:number rating:number notes:text"),
	}
}

func columns(spec string) []*domain.Column {
	var out []*domain.Column
	for field := range strings.FieldsSeq(spec) {
		name, kind, _ := strings.Cut(field, ":")
		kind, enum, _ := strings.Cut(kind, "=")
		c := &domain.Column{Name: name, Nullable: !strings.Contains(kind, "!"), Generated: strings.Contains(kind, "*"), Kind: domain.Kind(strings.Trim(kind, "!*"))}
		if c.Kind == domain.KindArray {
			c.Elem = domain.KindText
		}
		if enum != "" {
			c.Enum = strings.Split(enum, ",")
		}
		out = append(out, c)
	}
	return out
}

// workshop is a foreign domain without an offline section.
func workshop() *domain.Domain {
	machine := &domain.Entity{Type: "machine", Table: "machines", Name: "machine", Plural: "machines", Aliases: []string{"device"},
		Columns: columns("id:uuid! name:text! state:text=running,stopped serial:text bought_on:date")}
	ticket := &domain.Entity{Type: "ticket", Table: "tickets", Name: "ticket", Plural: "tickets", Aliases: []string{"issue"},
		Columns: columns("id:uuid! title:text! priority:text=low,high machine_id:uuid done:bool!")}
	ticket.Column("machine_id").FK = &domain.ForeignKey{Entity: machine}
	return &domain.Domain{Name: "workshop", Entities: []*domain.Entity{machine, ticket}, Subdomains: []*domain.Subdomain{
		{Name: "shop_floor", Tables: []string{"machines"}}, {Name: "tickets", Tables: []string{"tickets"}},
	}}
}

func ask(tb testing.TB, d *domain.Domain, req *llm.Request) *llm.Response {
	tb.Helper()
	resp, err := New(d).Generate(tb.Context(), req)
	require.NoError(tb, err)
	return resp
}

func user(blocks ...string) []llm.Message {
	return []llm.Message{{Role: llm.RoleUser, Content: strings.Join(blocks, "\n\n")}}
}

func block(tag string, lines ...string) string {
	return "<" + tag + ">\n" + strings.Join(lines, "\n") + "\n</" + tag + ">"
}

func understandOf(tb testing.TB, d *domain.Domain, message, entities, talk, question string) *nodes.UnderstandOutput {
	tb.Helper()
	task := "## Current Message\n" + message + "\n\nToday: 2026-01-13 (Tuesday)\nNext days: Wed 2026-01-14"
	if question != "" {
		task = "## Open Question\nKind: disambiguate, asked in turn 3\n" + question + "\n\n" + task
	}
	resp := ask(tb, d, &llm.Request{SchemaName: "understand", Messages: user(
		block("entity_context", "## All Known Entities", entities), block("conversation_history", "## Recent Conversation", talk), block("current_task", task))})
	out := &nodes.UnderstandOutput{}
	require.NoError(tb, json.Unmarshal([]byte(resp.Text), out))
	return out
}

func thinkOf(tb testing.TB, d *domain.Domain, message, entities, talk, question string) *nodes.ThinkOutput {
	tb.Helper()
	task := "## Current Task\nUser says: \"" + message + "\"\nToday: 2026-01-13 (Tuesday)\nNext days: Wed 2026-01-14\nMode: PLAN (max 8 steps)"
	if question != "" {
		task = "## Open Question\n" + question + "\n\n" + task
	}
	resp := ask(tb, d, &llm.Request{SchemaName: "think", Messages: user(
		block("entity_context", entities), block("conversation_history", "## Conversation", talk), block("current_task", task))})
	out := &nodes.ThinkOutput{}
	require.NoError(tb, json.Unmarshal([]byte(resp.Text), out))
	return out
}

func actOf(tb testing.TB, d *domain.Domain, kind, description, entities, results string) []llm.ToolCall {
	tb.Helper()
	step := "## Current Step\nStep 1 of 1\nType: " + kind + "\nSubdomain: x\nDescription: " + description + "\nToday: 2026-01-13 (Tuesday)"
	var tools []llm.Tool
	for _, n := range append(nodes.DataTools(kind), nodes.ToolStepComplete, nodes.ToolAskUser, nodes.ToolBlocked) {
		tools = append(tools, llm.Tool{Name: n})
	}
	return ask(tb, d, &llm.Request{Tools: tools, Messages: user(
		block("entity_context", entities), block("step_context", step, results))}).ToolCalls
}

func descriptions(out *nodes.ThinkOutput) []string {
	var list []string
	for _, s := range out.Steps {
		list = append(list, s.Type+"/"+s.Subdomain+": "+s.Description)
	}
	return list
}

const recentRecipes = `## Recent Context (last 2 turns)
Already loaded. Do NOT re-read them.
- recipe_1: Butter Chicken (recipe) [read:summary]
- recipe_2: Pad See Ew (recipe) [read:summary]
- recipe_3: Shakshuka Classic (recipe) [read:summary]
- inv_1..inv_12: [12 inventory items] [read]`

const recipesTalk = `User: show my recipes
Alfred: 3 recipes:
- Butter Chicken total_time:45min
- Pad See Ew total_time:30min
- Shakshuka Classic total_time:35min`

const draftContext = `## Generated (NOT YET SAVED)
- gen_recipe_1: Thai Basil Chicken (recipe) [needs save]`

const draftTalk = recipesTalk + `
User: draft a thai basil chicken
Alfred: Drafted Thai Basil Chicken.
It is not saved yet. Shall I save it?`
