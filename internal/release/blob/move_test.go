package blob

import (
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/tests3"
)

// TestMove: everything of a bundle comes from a directory to an S3 server, whenever the process that moves it dies.
func TestMove(t *testing.T) {
	dir, server := openDir(t, t.TempDir()), tests3.New(t, 0)
	for _, done := range []bool{false, true} {
		both := func(b Bucket, to Bucket) storetest.Movers {
			return func(_ testing.TB, n int) (release.Store, release.Store, func() bool) {
				count := &counter{at: n, done: done}
				return open(t, count.of(b)), open(t, count.of(to)), func() bool { return n > 0 && count.n >= n }
			}
		}
		b := openS3(t, s3Options(server))
		storetest.RunMove(t, both(dir, b), func(_ testing.TB, owner string) {
			expire(t, open(t, dir), owner)
			expire(t, open(t, b), owner)
		})
	}
}

// counter lets a process die at its request at of all its buckets, carried out or not.
type counter struct {
	n, at int
	done  bool
}

func (c *counter) of(b Bucket) Bucket {
	return &faulty{Bucket: b, fails: func(int) (error, bool) {
		if c.n++; c.at == 0 || c.n < c.at {
			return nil, false
		}
		return errDead, c.done && c.n == c.at
	}}
}

// TestPlace: a store has one id, whoever asks first.
func TestPlace(t *testing.T) {
	dir := openDir(t, t.TempDir())
	if p, err := open(t, dir).Place(t.Context(), false); err != nil || p.ID != "" || p.Name == "" {
		t.Errorf("before it was written: %+v, %v", p, err)
	}
	a, err := open(t, dir).Place(t.Context(), true)
	if err != nil || a.ID == "" {
		t.Fatal(a, err)
	}
	if b, err := open(t, dir).Place(t.Context(), true); err != nil || !a.Is(b) {
		t.Errorf("%+v is not %+v: %v", b, a, err)
	}
}
