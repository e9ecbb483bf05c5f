// Package answer reads what models write: JSON that is to fit a Go type.
//
// It owns the one rule of what is put right without asking (a number in quotes, one
// value where a list is needed, an object as text, prose or a code fence around the
// object) and of what is told, all of it at once. It must not know of nodes, tools or
// tables. Start reading at Decode.
package answer
