package script

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"alfred/internal/exact"
	"alfred/internal/llm"
)

// Disturb wraps a model so that some of its answers have typical model errors. rate is the share of affected answers, 0
// to 1. Which answers and which errors depends only on the seed and the decision's position, so that a run can be
// repeated.
func Disturb(model llm.Model, seed uint64, rate float64) *Disturbed {
	d := &Disturbed{model: model, rate: rate, counts: map[string]*atomic.Int64{}}
	d.seed.Store(seed)
	for _, e := range Errors() {
		d.counts[e] = &atomic.Int64{}
	}

	return d
}

// DisturbAlways wraps a model so that every answer that can have the named error gets it.
func DisturbAlways(model llm.Model, mistake string) *Disturbed {
	d := Disturb(model, 0, 1)
	d.only = mistake

	return d
}

// Disturbed is a model with errors.
type Disturbed struct {
	model  llm.Model
	only   string // the only error to make; "" for all
	seed   atomic.Uint64
	rate   float64
	counts map[string]*atomic.Int64
}

// Seed starts another run.
func (d *Disturbed) Seed(seed uint64) { d.seed.Store(seed) }

// Counts returns how often each error was made.
func (d *Disturbed) Counts() map[string]int64 {
	counts := map[string]int64{}
	for name, n := range d.counts {
		counts[name] = n.Load()
	}

	return counts
}

// Generate asks the model and may corrupt its answer. Text is streamed only after it was corrupted.
func (d *Disturbed) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	dice := d.dice(req)
	if dice.Float64() >= d.rate {
		return d.model.Generate(ctx, req)
	}
	quiet := *req
	quiet.OnDelta = nil
	resp, err := d.model.Generate(ctx, &quiet)
	if err != nil {
		return resp, err
	}
	spoiled := *resp
	for _, at := range dice.Perm(len(mistakes)) {
		if m := mistakes[at]; (d.only == "" || d.only == m.name) && m.make(dice, req, &spoiled) {
			d.counts[m.name].Add(1)

			break
		}
	}
	if req.OnDelta != nil {
		req.OnDelta(spoiled.Text)
	}

	return &spoiled, nil
}

func (d *Disturbed) dice(req *llm.Request) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, d.seed.Load(), req.Node, req.Turn, req.Step, req.Call, req.Attempt)

	return rand.New(rand.NewPCG(d.seed.Load(), h.Sum64())) //nolint:gosec // the same errors for the same seed are wanted
}

// mistake is one kind of error.
type mistake struct {
	name string
	make spoiler
}

// spoiler puts an error into an answer. It returns false and changes nothing if the answer cannot have it.
type spoiler func(dice *rand.Rand, req *llm.Request, resp *llm.Response) bool

// Errors returns the names of the errors, in a fixed order.
func Errors() []string {
	names := make([]string, len(mistakes))
	for i, m := range mistakes {
		names[i] = m.name
	}

	return names
}

var mistakes = []mistake{
	{"made_up_ref", refs(func(kind string, n int) string { return kind + "_" + strconv.Itoa(n+90) })},
	{"off_by_one", refs(func(kind string, n int) string { return kind + "_" + strconv.Itoa(n+1) })},
	{"wrong_type", refs(func(_ string, n int) string { return "log_" + strconv.Itoa(n) })},
	{"range", refs(func(kind string, n int) string {
		return kind + "_" + strconv.Itoa(n) + ".." + kind + "_" + strconv.Itoa(n)
	})},
	{"string_for_number", values(func(v any) (any, bool) { n, ok := v.(json.Number); return n.String(), ok })},
	{"one_value_for_list", values(func(v any) (any, bool) {
		list, ok := v.([]any)
		if !ok || len(list) != 1 {
			return v, false
		}

		return list[0], true
	})},
	{"missing_field", parts(missingField)},
	{"prose_around_json", text(func(json string) string { return "Here is the answer:\n" + json + "\nLet me know if it helps." })},
	{"code_fence", text(func(json string) string { return "```json\n" + json + "\n```" })},
	{"two_steps_in_one", twoInOne},
	{"step_complete_too_early", tooEarly},
	{"claim_without_call", claim},
	{"repeated_call", repeated},
	{"empty", empty},
	{"cut_json", cut},
}

var ref = regexp.MustCompile(`"((?:gen_)?[a-z][a-z]*)_(\d+)"`)

// refs corrupts one ref of an answer.
func refs(with func(kind string, n int) string) spoiler {
	return parts(func(dice *rand.Rand, part []byte) ([]byte, bool) {
		found := ref.FindAllSubmatchIndex(part, -1)
		if len(found) == 0 {
			return part, false
		}
		at := found[dice.IntN(len(found))]
		n, _ := strconv.Atoi(string(part[at[4]:at[5]]))
		name := with(string(part[at[2]:at[3]]), n)

		return slices.Concat(part[:at[2]], []byte(name), part[at[5]:]), true
	})
}

// values corrupts one value of an answer.
func values(with func(any) (any, bool)) spoiler {
	return parts(func(_ *rand.Rand, part []byte) ([]byte, bool) {
		tree, ok := decoded(part)
		if !ok {
			return part, false
		}
		done := false
		tree = replaced(tree, func(v any) any {
			if done {
				return v
			}
			v, done = with(v)

			return v
		})
		spoiled, err := json.Marshal(tree)

		return spoiled, done && err == nil
	})
}

func replaced(value any, with func(any) any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = replaced(v[name], with)
		}
	case []any:
		for i := range v {
			v[i] = replaced(v[i], with)
		}
	}

	return with(value)
}

func decoded(part []byte) (any, bool) {
	var tree any
	err := exact.Decode(part, &tree)

	return tree, err == nil
}

// parts corrupts one JSON part of an answer: its text, or the arguments of one call.
func parts(with func(*rand.Rand, []byte) ([]byte, bool)) spoiler {
	return func(dice *rand.Rand, req *llm.Request, resp *llm.Response) bool {
		if req.SchemaName != "" {
			spoiled, ok := with(dice, []byte(resp.Text))
			if ok {
				resp.Text = string(spoiled)
			}

			return ok
		}
		for _, i := range dice.Perm(len(resp.ToolCalls)) {
			if spoiled, ok := with(dice, resp.ToolCalls[i].Args); ok {
				resp.ToolCalls = slices.Clone(resp.ToolCalls)
				resp.ToolCalls[i].Args = spoiled

				return true
			}
		}

		return false
	}
}

func text(with func(string) string) spoiler {
	return func(_ *rand.Rand, req *llm.Request, resp *llm.Response) bool {
		if req.SchemaName == "" || resp.Text == "" {
			return false
		}
		resp.Text = with(resp.Text)

		return true
	}
}

func missingField(dice *rand.Rand, part []byte) ([]byte, bool) {
	tree, _ := decoded(part)
	object, ok := tree.(map[string]any)
	if !ok || len(object) == 0 {
		return part, false
	}
	names := slices.Sorted(maps.Keys(object))
	delete(object, names[dice.IntN(len(names))])
	spoiled, err := json.Marshal(object)

	return spoiled, err == nil
}

// twoInOne gives two answers at once: two objects, or calls together with a question.
func twoInOne(_ *rand.Rand, req *llm.Request, resp *llm.Response) bool {
	switch {
	case req.SchemaName != "" && resp.Text != "":
		resp.Text += "\n" + resp.Text
	case len(resp.ToolCalls) > 0:
		resp.ToolCalls = append(slices.Clone(resp.ToolCalls), toolCall("ask_user", `{"question": "Shall I go on with the next step?"}`))
	default:
		return false
	}

	return true
}

// tooEarly ends the step without the required calls.
func tooEarly(_ *rand.Rand, _ *llm.Request, resp *llm.Response) bool {
	if len(resp.ToolCalls) == 0 || resp.ToolCalls[0].Name == "step_complete" {
		return false
	}
	resp.ToolCalls = []llm.ToolCall{toolCall("step_complete", `{"summary": "The step is done."}`)}

	return true
}

// claim makes a step's end or the reply claim that it was done.
func claim(_ *rand.Rand, req *llm.Request, resp *llm.Response) bool {
	switch {
	case len(resp.ToolCalls) > 0:
		resp.ToolCalls = []llm.ToolCall{toolCall("step_complete", `{"summary": "Saved it.", "conclusions": "Everything was saved."}`)}
	case req.Node == "reply":
		resp.Text = "Done! I've saved it for you."
	default:
		return false
	}

	return true
}

func repeated(_ *rand.Rand, _ *llm.Request, resp *llm.Response) bool {
	if len(resp.ToolCalls) == 0 {
		return false
	}
	resp.ToolCalls = append([]llm.ToolCall{resp.ToolCalls[0]}, resp.ToolCalls...)

	return true
}

func empty(_ *rand.Rand, _ *llm.Request, resp *llm.Response) bool {
	resp.Text, resp.ToolCalls = "", nil

	return true
}

func cut(dice *rand.Rand, req *llm.Request, resp *llm.Response) bool {
	if req.Node == "reply" {
		resp.Text = `{"reply": "` + strings.ReplaceAll(resp.Text, `"`, `'`) + `"}` // a reply is no JSON at all

		return true
	}

	return parts(func(dice *rand.Rand, part []byte) ([]byte, bool) {
		if len(part) < 4 {
			return part, false
		}

		return part[:2+dice.IntN(len(part)-3)], true
	})(dice, req, resp)
}

func toolCall(name, args string) llm.ToolCall {
	return llm.ToolCall{Name: name, Args: json.RawMessage(args)}
}
