// Package view is what a turn's decisions need from the past and from the turn itself,
// as one value: the registry in view, earlier turns, what was decided and asked, this
// turn's steps, decisions and results, the drafts, and what the domain says about the
// user. A Loader reads it in at most three round trips; whatever shapes it into prompts
// or words it is pure. A worker carries it from one decision to the next: each commit
// returns what it changed (carry.go).
//
// It must not know models, jobs, HTTP or how anything is worded. The SQL function
// entities_at alone decides which refs are in view.
//
// Start reading at view.go (what a view holds), then load.go (how it is read) and
// scene.go (what follows from it: each entity with its merged row). names.go finds
// the refs that a view's texts mention; gate.go keeps identifiers out of texts.
package view
