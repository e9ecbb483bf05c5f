// Command dbos runs turns on DBOS Transact: a workflow per turn, a transactional step per node, with what else is kept.
//
// It knows nothing of Alfred. Start reading at main.go.
package main
