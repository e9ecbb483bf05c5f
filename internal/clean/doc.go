// Package clean makes texts fit for prompts and for people. Rows and messages are
// data: what stands in them must not close a tag, open a heading, speak for somebody
// else or show an identifier, so every text on its way into a prompt goes through
// this package.
//
// It must not know where a text comes from: it takes strings and values alone.
//
// Start reading at clean.go; refs.go puts labels in place of refs, values.go prints
// values of columns.
package clean
