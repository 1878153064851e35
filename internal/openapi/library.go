package openapi

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"sync"

	"hawser.dev/hawser/internal/once"
)

// maxBytes bounds what a Library keeps, in bytes of the documents as servers send them: those of a cluster's thirty groups and versions are some 3 MiB, and
// those with many definitions ten times that.
const maxBytes = 64 << 20

// Library keeps documents that were read, by the SHA-512 of their content, so that a document of many clusters is read once. The zero value is empty. It may be used from several goroutines; who asks for what is being read waits.
type Library struct {
	once sync.Once
	docs once.Map[string, *Document]
}

// Document returns the document that a server says has a hash, which load reads when it is not there. What has that SHA-512 is shared with
// all whose servers say the same; what has another one is what that server says and nobody else, and is kept under its own key, which no other
// cluster has. What somebody else's server failed to answer is read by who asks. A failure is returned and not kept.
func (l *Library) Document(ctx context.Context, hash, own string, load func() ([]byte, error)) (*Document, error) {
	l.once.Do(func() { l.docs.Most, l.docs.Weight = maxBytes, func(d *Document) int64 { return d.bytes } })
	read, asked := sync.OnceValues(load), false
	if len(hash) == 2*sha512.Size {
		d, err := l.docs.Try(ctx, hash, func() (*Document, error) {
			asked = true
			data, err := read()
			if sum := sha512.Sum512(data); err == nil && hex.EncodeToString(sum[:]) != hash {
				err = errOther
			}
			return parsed(data, err)
		})
		if err == nil || ctx.Err() != nil || asked && !errors.Is(err, errOther) {
			return d, err
		}
	}
	return l.docs.Try(ctx, own, func() (*Document, error) { return parsed(read()) })
}

// errOther is a document that is not the one that was claimed.
var errOther = errors.New("the document has another hash")

func parsed(data []byte, err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	d, err := Parse(data)
	if err == nil {
		d.bytes = int64(len(data))
	}
	return d, err
}
