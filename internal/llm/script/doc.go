// Package script is a model that plays a YAML file, for tests and demos.
//
// The file lists what each node answers in each turn of a session:
//
//	turns:
//	  - understand: {intent: read, ...}       # the node's output
//	    think:                                # a list, when the node decides several times
//	      - {decision: plan, steps: [...]}
//	      - {decision: plan, steps: [...]}    # after a replan
//	    act:
//	      - calls: [{tool: db_read, args: {table: recipes}}]
//	      - calls: [{tool: step_complete, args: {summary: "2 recipes"}}]
//	    reply: You have two recipes.
//	    summarize: {response_summary: ...}
//	compress: {text: ...}                     # for every turn without one of its own
//
// Turns count within a session. An entry is found from the request alone (Node,
// Turn, Ordinal; Call where Ordinal is 0), so that a process that takes over after
// a crash plays on where the other one stopped. Act's list counts over the whole
// turn; its entries may instead all carry `step: 2` and then count within that
// step, by Call.
//
// The ends of a step (step_complete, ask_user, blocked, request_schema) are calls
// of tools named so. An entry may also hold:
//
//	delay: 200ms                 # before the answer
//	error: {kind: rate_limit, retry_after: 2s, times: 1}   # times 0: always
//	raw: "{not json"             # the answer's text as it is
//	repairs: [...]               # entries for attempts 2, 3, ...
//
// and a call `raw: "{not json"` instead of args. An attempt without a repair gets
// the last answer again. `times` counts in this process only.
//
// It must not know what a node does with its answer. A request without an entry
// fails with llm.KindScriptExhausted. Start reading at script.go.
package script
