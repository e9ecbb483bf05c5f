// Command dbos runs the benchmark's turns on DBOS Transact: a workflow per turn and a transactional step per node,
// which also writes the other rows. It must not know Alfred. Start reading at main.go.
package main
