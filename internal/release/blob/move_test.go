package blob

import (
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testbucket"
	"hawser.dev/hawser/internal/tests3"
)

// TestMove: everything of a bundle comes from one store to another, whenever the process that moves it dies.
func TestMove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pair func(t *testing.T) (from, to Bucket)
		done []bool
	}{
		"directory to S3": {func(t *testing.T) (from, to Bucket) {
			return openDir(t, t.TempDir()), openS3(t, s3Options(tests3.New(t, 0)))
		}, []bool{false, true}},
		"Google to Azure": {func(t *testing.T) (from, to Bucket) {
			return openGCS(t, gcsOptions(t, testbucket.NewGCS(t, 0))), openAzure(t, azureOptions(testbucket.NewAzure(t, 0, false)))
		}, []bool{true}}, // that one dies before or after is of the move, and not of the store
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := c.pair(t)
			for _, done := range c.done {
				both := func(_ testing.TB, n int) (release.Store, release.Store, func() bool) {
					count := &counter{at: n, done: done}
					return open(t, count.of(from)), open(t, count.of(to)), func() bool { return n > 0 && count.n >= n }
				}
				storetest.RunMove(t, both, func(_ testing.TB, owner string) {
					expire(t, open(t, from), owner)
					expire(t, open(t, to), owner)
				})
			}
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
