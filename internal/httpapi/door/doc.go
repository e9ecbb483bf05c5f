// Package door is what the packages of other protocols share: it finds the session a client means, reads the turn, and
// forwards its events. Such clients know neither our sessions nor our turns. It must not know any of these protocols.
// Start reading at [Door].
package door
