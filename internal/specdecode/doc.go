// Package specdecode reads evaluated CUE into the types of the documents, driven by those types alone: a field's name is that of
// its `json` tag, and its `hawser` tag says what else is known of it (see Tag). What several fields say together, and what the
// formats of texts are, its caller hands in as Rules.
//
// It goes on after a mistake and collects findings, each at its line, so that a misspelt field is found beside any other mistake.
//
// specdecode must not know how documents are found, loaded or evaluated, nor what any one field of them means.
package specdecode
