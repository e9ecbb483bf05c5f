package eval

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Outcomes of a trial.
const (
	Passed = "passed"
	Failed = "failed" // an expectation was not met
	Broken = "broken" // it could not be run or checked: the case, the server or a timeout is at fault
)

// Trial is one conversation and its result.
type Trial struct {
	Outcome  string   `json:"outcome"`
	Faults   []Fault  `json:"faults,omitempty"`
	Error    string   `json:"error,omitempty"` // why it is broken
	Turns    []Played `json:"turns"`
	Calls    int      `json:"calls"`
	Tokens   int      `json:"tokens"`
	USD      float64  `json:"cost_usd"`
	Seconds  float64  `json:"seconds"` // taken by the turns
	Judged   string   `json:"judged,omitempty"`
	Others   int      `json:"other_tokens,omitempty"` // of the models that play users and judge
	OtherUSD float64  `json:"other_cost_usd,omitempty"`
}

// Played is one turn of a trial.
type Played struct {
	Number   int     `json:"number"`
	Message  string  `json:"message"`
	Reply    string  `json:"reply"` // with its question and options
	Status   string  `json:"status"`
	Error    string  `json:"error,omitempty"`
	Asks     string  `json:"asks,omitempty"` // kind of the question it ended with
	Calls    int     `json:"calls"`
	Tokens   int     `json:"tokens"`
	USD      float64 `json:"cost_usd"`
	Seconds  float64 `json:"seconds"`
	Timeline []Line  `json:"timeline,omitempty"` // only if the trial did not pass
	Prompts  []Call  `json:"prompts,omitempty"`  // only if the trial did not pass

	id     uuid.UUID
	writes []write
}

// Line is one thing that happened in a turn.
type Line struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	MS   *int   `json:"duration_ms,omitempty"`
}

// Call is one model call.
type Call struct {
	Node     string          `json:"node"`
	Attempt  int             `json:"attempt"`
	Error    string          `json:"error,omitempty"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response,omitempty"`
}

// Run is the result of a suite with one model.
type Run struct {
	Suite   string    `json:"suite"`
	Model   string    `json:"model"`
	Trials  int       `json:"trials"` // per case
	Started time.Time `json:"started"`
	Cases   []Result  `json:"cases"`

	// PassHat is pass^k for k = 1 to Trials: the chance that k trials of a case all pass, averaged over the cases.
	PassHat []float64 `json:"pass_hat"`
	Passed  int       `json:"passed"` // cases with every trial passed
	Failed  int       `json:"failed"`
	Broken  int       `json:"broken"` // cases with a trial that could not be run or checked
	Calls   int       `json:"calls"`
	Tokens  int       `json:"tokens"`
	USD     float64   `json:"cost_usd"`
	Seconds float64   `json:"seconds"`
	// OtherTokens and OtherUSD are those of the models that play users and judge.
	OtherTokens int     `json:"other_tokens"`
	OtherUSD    float64 `json:"other_cost_usd"`
}

// Result is the result of a case.
type Result struct {
	Case   string  `json:"case"`
	About  string  `json:"about,omitempty"`
	Trials []Trial `json:"trials"`
}

// Outcome is passed if every trial passed, broken if one is, else failed.
func (r *Result) Outcome() string {
	result := Passed
	for i := range r.Trials {
		switch r.Trials[i].Outcome {
		case Broken:
			return Broken
		case Failed:
			result = Failed
		}
	}

	return result
}

// Successes is how many trials passed.
func (r *Result) Successes() int {
	n := 0
	for i := range r.Trials {
		if r.Trials[i].Outcome == Passed {
			n++
		}
	}

	return n
}

// FirstFailure is the first broken trial, else the first failed one; nil if every trial passed.
func (r *Result) FirstFailure() *Trial {
	outcome := r.Outcome()
	if outcome == Passed {
		return nil
	}

	return &r.Trials[slices.IndexFunc(r.Trials, func(t Trial) bool { return t.Outcome == outcome })]
}

// Seconds are those of all trials.
func (r *Result) Seconds() (all float64) {
	for i := range r.Trials {
		all += r.Trials[i].Seconds
	}

	return all
}

// count totals the cases.
func (r *Run) count() {
	r.PassHat = make([]float64, r.Trials)
	for i := range r.Cases {
		c := &r.Cases[i]
		switch c.Outcome() {
		case Passed:
			r.Passed++
		case Failed:
			r.Failed++
		default:
			r.Broken++
		}
		for k := range r.PassHat {
			r.PassHat[k] += passHat(r.Trials, c.Successes(), k+1)
		}
		for n := range c.Trials {
			t := &c.Trials[n]
			r.Calls, r.Tokens, r.USD, r.Seconds = r.Calls+t.Calls, r.Tokens+t.Tokens, r.USD+t.USD, r.Seconds+t.Seconds
			r.OtherTokens, r.OtherUSD = r.OtherTokens+t.Others, r.OtherUSD+t.OtherUSD
		}
	}
	for k := range r.PassHat {
		r.PassHat[k] /= float64(len(r.Cases))
	}
}

// passHat is the unbiased estimate of the probability that k trials in a row pass, given that c of n did: C(c, k) /
// C(n, k). It is the pass^k of tau-bench (Yao, Shinn, Razavi, Narasimhan 2024, arXiv 2406.12045, section 3), which
// falls with k for an assistant that is only sometimes right; pass@k, the probability that at least one of k passes,
// would rise.
func passHat(n, c, k int) float64 {
	chance := 1.0
	for i := range k {
		chance *= float64(max(c-i, 0)) / float64(n-i)
	}

	return chance
}
