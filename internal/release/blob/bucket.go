// Package blob keeps release records in a blob store: a directory, or a bucket of S3 and its kin.
//
// Everything is sealed with the store's key. Records and locks are journals: numbered blobs of which the next one is made
// only if it is absent, so that of two writers one makes it. The package must not know what is in a record.
package blob

import (
	"context"
	"errors"
	"time"
)

// Bucket is the socket for what blobs are kept in. Keys are parts of letters, digits, `-` and `.`, joined by slashes. All
// methods are safe for concurrent use, by several processes too.
type Bucket interface {
	// Get reads a blob, else ErrAbsent; one of more than limit bytes is an error.
	Get(ctx context.Context, key string, limit int) ([]byte, error)
	// Create makes a blob that is absent, else ErrExists. It is whole or it is not. After any other error it may be there.
	Create(ctx context.Context, key string, data []byte) error
	// List returns the blobs whose keys begin with a prefix (that ends in a slash, or is ""), sorted by key.
	List(ctx context.Context, prefix string) ([]Entry, error)
	// Delete removes a blob; an absent one is no error.
	Delete(ctx context.Context, key string) error
	// Now is the time by the clock that Modified comes from.
	Now(ctx context.Context) (time.Time, error)
	// String names the bucket for errors, without credentials.
	String() string
}

// Entry is a blob in a listing.
type Entry struct {
	Key      string
	Modified time.Time
}

// Errors of a Bucket.
var (
	ErrAbsent = errors.New("there is no such blob")
	ErrExists = errors.New("the blob exists already")
)
