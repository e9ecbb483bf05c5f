// Package vocab names what several packages speak of: nodes, step types, data tools and their calls, kinds of question.
// The database has the same names in enums and CHECKs, and a test compares them. It must not know what is done with
// them. Start reading at [Tools].
package vocab
