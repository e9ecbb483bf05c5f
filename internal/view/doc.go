// Package view is what a turn's decisions need of the past and of the turn itself,
// as one value: the registry in view, the turns before, what was decided, what was
// asked, this turn's steps, decisions and results, the drafts, what the domain says
// of the user. A Loader reads it in at most three round trips; whatever shapes it
// into prompts or words it is pure. From one decision of a worker to the next it is
// carried: a commit returns what it changed of it (carry.go).
//
// It must not know models, jobs, HTTP or how anything is worded. Which refs are in
// view is decided by the SQL function entities_at and nowhere here.
//
// Start reading at view.go (what a view holds), then load.go (how it is read) and
// scene.go (what follows from it: each entity with its merged row). names.go says
// which refs the texts of a view speak of, gate.go keeps identifiers out of texts.
package view
