// Package arithmetic evaluates expressions that a model writes, exactly: 0.1 + 0.2 is 0.3. It bounds what one may cost.
// It must not know where the numbers come from. Start reading at [Evaluate].
package arithmetic
