// Package work is what all peers share: the turn's nodes, the user's rows, what is kept, and the clock.
//
// It knows neither Alfred nor any particular peer. Start reading at work.go.
package work
