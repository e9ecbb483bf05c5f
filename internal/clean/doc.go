// Package clean makes texts fit for prompts and for people. Rows and messages are
// data: their text must not close a tag, open a heading, speak for somebody else or
// reveal an identifier, so every text on its way into a prompt passes through this
// package.
//
// It must not know where a text comes from: it takes only strings and values.
//
// Start reading at clean.go; refs.go replaces refs by labels, values.go prints
// column values.
package clean
