// Package door is what the doors for other protocols share: their clients know
// neither our sessions nor our turns, and send the whole conversation with every
// message.
//
// It finds the session, reads the turn and passes its events on. It must not know
// any of these protocols: each has a package of its own.
//
// Start reading at [Door].
package door
