// Package answer is what API servers answer, and what of it is believed and told: how large an answer may be, which errors
// mean what, the items of a list, and of errors about Secrets only the words that are the server's own.
//
// answer must not know requests, connections, nor what an answer is for.
package answer
