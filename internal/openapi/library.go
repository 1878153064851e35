package openapi

import (
	"context"
	"sync"

	"hawser.dev/hawser/internal/once"
)

// maxBytes bounds what a Library keeps, in bytes of the documents as servers send them: those of a cluster's thirty groups and versions are some 3 MiB, and
// those with many definitions ten times that.
const maxBytes = 64 << 20

// Library keeps documents that were read, by a key that changes with their content, so that a document of many clusters
// is read once. The zero value is empty. It may be used from several goroutines; who asks for what is being read waits.
type Library struct {
	once sync.Once
	docs once.Map[string, *Document]
}

// Document returns the document with a key, which load reads when it is not there. A failure is returned and not kept.
func (l *Library) Document(ctx context.Context, key string, load func() ([]byte, error)) (*Document, error) {
	l.once.Do(func() { l.docs.Most, l.docs.Weight = maxBytes, func(d *Document) int64 { return d.bytes } })
	return l.docs.Try(ctx, key, func() (*Document, error) {
		data, err := load()
		if err != nil {
			return nil, err
		}
		d, err := Parse(data)
		if err == nil {
			d.bytes = int64(len(data))
		}
		return d, err
	})
}
