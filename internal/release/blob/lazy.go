package blob

import (
	"context"
	"time"

	"hawser.dev/hawser/internal/once"
)

// Lazy is a Bucket that is opened when it is first used, once: what reads no records needs neither directory nor credentials.
type Lazy struct {
	// Name is what the bucket is called before it is open.
	Name string
	// Open opens it.
	Open func(ctx context.Context) (Bucket, error)

	bucket once.Value[Bucket]
}

var _ Bucket = (*Lazy)(nil)

func (l *Lazy) String() string { return l.Name }

func (l *Lazy) open(ctx context.Context) (Bucket, error) {
	return l.bucket.Get(ctx, func() (Bucket, error) { return l.Open(ctx) })
}

// Get is that of the bucket.
func (l *Lazy) Get(ctx context.Context, key string, limit int) ([]byte, error) {
	b, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	return b.Get(ctx, key, limit)
}

// Create is that of the bucket.
func (l *Lazy) Create(ctx context.Context, key string, data []byte) error {
	b, err := l.open(ctx)
	if err != nil {
		return err
	}
	return b.Create(ctx, key, data)
}

// List is that of the bucket.
func (l *Lazy) List(ctx context.Context, prefix string) ([]Entry, error) {
	b, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	return b.List(ctx, prefix)
}

// Delete is that of the bucket.
func (l *Lazy) Delete(ctx context.Context, key string) error {
	b, err := l.open(ctx)
	if err != nil {
		return err
	}
	return b.Delete(ctx, key)
}

// Now is that of the bucket.
func (l *Lazy) Now(ctx context.Context) (time.Time, error) {
	b, err := l.open(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return b.Now(ctx)
}
