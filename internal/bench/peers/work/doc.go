// Package work is what all peers share: the turn's nodes, the user's rows, the rows that are kept, and the clock. It
// must not know Alfred or any particular peer. Start reading at work.go.
package work
