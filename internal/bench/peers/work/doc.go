// Package work is what all peers have in common: the turn's nodes, the user's rows, and the clock.
//
// It knows neither Alfred nor any one peer. Start reading at work.go.
package work
