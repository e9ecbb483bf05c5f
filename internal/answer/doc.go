// Package answer decodes what models write: JSON that should match a Go type.
//
// It owns the rules for what is corrected without asking (a quoted number, one value
// where a list is required, an object as text, prose or a code fence around the object)
// and for what is reported, all at once. It must not know nodes, tools or tables. Start
// reading at Decode.
package answer
