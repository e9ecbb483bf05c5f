// Package clean makes texts safe for prompts and readable for people. Rows and messages are data: their text must not
// close a tag, open a heading, speak for somebody else or reveal an identifier, so every text that enters a prompt
// passes through here. It must not know where a text comes from. Start reading at clean.go; refs.go replaces refs by
// labels, values.go prints column values.
package clean
