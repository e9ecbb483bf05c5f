// Package wire is what the providers that speak HTTP share: how a status, a body or a broken connection becomes a typed
// error, how a schema is put into a prompt, what less capable servers leave in an answer's text, and how keys are kept out of
// texts. It must not know any SDK: it gets statuses, headers and bytes. Start reading at error.go.
package wire
