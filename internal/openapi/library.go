package openapi

import (
	"context"
	"sync"

	"hawser.dev/hawser/internal/once"
)

// maxDocuments bounds what a Library keeps; a cluster has some thirty groups and versions of its own.
const maxDocuments = 256

// Library keeps documents that were read, by a key that changes with their content, so that a document of many clusters
// is read once. The zero value is empty. It may be used from several goroutines; who asks for what is being read waits.
type Library struct {
	once sync.Once
	docs once.Map[string, *Document]
}

// Document returns the document with a key, which load reads when it is not there. A failure is returned and not kept.
func (l *Library) Document(ctx context.Context, key string, load func() ([]byte, error)) (*Document, error) {
	l.once.Do(func() { l.docs.Most = maxDocuments })
	return l.docs.Try(ctx, key, func() (*Document, error) {
		data, err := load()
		if err != nil {
			return nil, err
		}
		return Parse(data)
	})
}
