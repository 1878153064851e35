package openapi

import "sync"

// maxDocuments bounds what a Library keeps; a cluster has some thirty groups and versions of its own.
const maxDocuments = 256

// Library keeps documents that were read, by a key that changes with their content, so that a document of many clusters
// is read once. The zero value is empty. It may be used from several goroutines; who asks for what is being read waits.
type Library struct {
	mu   sync.Mutex
	docs map[string]*shelf
}

type shelf struct {
	mu  sync.Mutex
	doc *Document
}

// Document returns the document with a key, which load reads when it is not there. A failure is returned and not kept.
func (l *Library) Document(key string, load func() ([]byte, error)) (*Document, error) {
	l.mu.Lock()
	if l.docs == nil || len(l.docs) >= maxDocuments && l.docs[key] == nil {
		l.docs = map[string]*shelf{}
	}
	at := l.docs[key]
	if at == nil {
		at = &shelf{}
		l.docs[key] = at
	}
	l.mu.Unlock()
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.doc != nil {
		return at.doc, nil
	}
	data, err := load()
	if err != nil {
		return nil, err
	}
	at.doc, err = Parse(data)
	return at.doc, err
}
