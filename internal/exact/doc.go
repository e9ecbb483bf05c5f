// Package exact reads and writes JSON without loss: it keeps numbers as they are written, where encoding/json turns
// them into floats and corrupts 19-digit keys. It also owns which values jsonb cannot store. It must not know what the
// JSON means. Start reading at Decode.
package exact
