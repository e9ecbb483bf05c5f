// Package exact reads and writes JSON without loss: numbers stay as they are
// written, where encoding/json makes them floats and keys of 19 digits become
// other keys.
//
// It owns that one rule and what jsonb cannot store. It must not know what the
// JSON means. Start reading at Decode.
package exact
