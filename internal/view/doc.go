// Package view is everything a turn's decisions need from the past and from the turn itself, as one value. A Loader
// reads it in at most three round trips, and a worker carries it from one decision to the next: each commit returns
// what it changed (carry.go). The SQL function entities_at alone decides which refs are in view. It must not know
// models, jobs, HTTP or how anything is worded. Start reading at view.go, then load.go and scene.go (each entity with
// its merged row).
package view
