// Package exact reads and writes JSON without loss: it keeps numbers as written,
// where encoding/json converts them to floats and corrupts 19-digit keys.
//
// It owns that rule, and what jsonb cannot store. It must not know what the
// JSON means. Start reading at Decode.
package exact
