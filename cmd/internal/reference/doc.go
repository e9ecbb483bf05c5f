// Package reference checks the documents: it runs their commands, compares generated pages with the catalog and the
// settings, resolves links, and looks for a doc.go in every package. All of it is tests. With -update, as in `make
// generate`, they write the generated pages. commands_test.go says how blocks of commands are marked. Start reading
// there.
package reference
