// Package vocab names what several packages speak of: the nodes, the types of steps, the data tools and the kinds of
// question. The database holds the same names, in enums and CHECKs; a test compares them.
//
// It must not know what is done with them. Start reading at [Tools].
package vocab
