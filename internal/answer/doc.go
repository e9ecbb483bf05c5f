// Package answer decodes what models write: JSON that should match a Go type. It owns which mistakes are corrected
// silently (a quoted number, a single value instead of a list, an object as text, prose or a code fence around the
// object) and which are reported, all at once. It must not know nodes, tools or tables. Start reading at Decode.
package answer
