package blob

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/release"
)

// nameplate is the blob with the id of a bucket: what its records are found by. It is the only one that is not sealed.
const nameplate = "hawser-store.json"

// maxNameplate bounds what is read of it.
const maxNameplate = 4 << 10

type plate struct {
	V  int    `json:"v"`
	ID string `json:"id"`
}

// Place is the bucket by its id. write makes one where there is none, after a look whether the bucket keeps its word: some that speak
// S3 take a condition for nothing, and then nobody could tell who writes.
func (s *store) Place(ctx context.Context, write bool) (release.Place, error) {
	if known := s.place.Load(); known != nil {
		return *known, nil
	}
	at := release.Place{Name: "the " + s.bucket.String(), Fleet: s.fleet}
	for range tries {
		data, err := s.bucket.Get(ctx, nameplate, maxNameplate)
		switch {
		case err == nil:
			var p plate
			if err := json.Unmarshal(data, &p); err != nil || p.V != 1 || p.ID == "" {
				return at, s.wrap("read", nameplate, fmt.Errorf("%w: it is no nameplate of a release store", release.ErrDamaged))
			}
			at.ID = p.ID
			s.place.Store(&at)
			return at, nil
		case !errors.Is(err, ErrAbsent):
			return at, s.wrap("read", nameplate, err)
		case !write:
			return at, nil
		}
		if err := s.tryCreate(ctx); err != nil {
			return at, err
		}
		data, err = json.Marshal(plate{1, strings.ToLower(rand.Text())})
		if err == nil {
			err = s.bucket.Create(ctx, nameplate, data)
		}
		if err != nil && !errors.Is(err, ErrExists) {
			return at, s.wrap("write", nameplate, err)
		}
	}
	return at, s.wrap("read", nameplate, ErrAbsent)
}

// tryCreate fails unless a blob can be made once, and only once.
func (s *store) tryCreate(ctx context.Context) error {
	probe := "hawser-probe-" + strings.ToLower(rand.Text())
	if err := s.bucket.Create(ctx, probe, []byte("1")); err != nil {
		return s.wrap("write", probe, err)
	}
	defer func() { _ = s.bucket.Delete(context.WithoutCancel(ctx), probe) }()
	switch err := s.bucket.Create(ctx, probe, []byte("2")); {
	case errors.Is(err, ErrExists):
		return nil
	case err != nil:
		return s.wrap("write", probe, err)
	}
	return s.wrap("write", probe, errors.New("it was written over, although it was to be made only where it is absent (If-None-Match): a store that does not keep to that can hold neither locks nor records"))
}

// Archive reads all that is kept of a bundle.
func (s *store) Archive(ctx context.Context, owner string) (a release.Archive, err error) {
	j, t, h, err := s.read(ctx, owner)
	if err != nil {
		return a, err
	}
	if a.Leaving = h.Leaving; !h.Deleted {
		if a.Record, err = release.DecodeRecord(h.Record); err != nil {
			return a, s.wrap("read", j.key(t.number), err)
		}
	}
	for _, k := range h.Kept {
		r, objects, err := s.revision(ctx, k)
		if err != nil {
			return a, err
		}
		a.Kept = append(a.Kept, release.KeptRevision{Record: *r, Phase: k.Phase, Objects: objects})
	}
	a.Hold, _, err = s.Held(ctx, owner)
	return a, err
}

// Leave closes what is kept of a bundle.
func (s *store) Leave(ctx context.Context, owner string, to release.Place) error {
	j, t, h, err := s.now(ctx, owner)
	if err != nil || h.Deleted {
		return err
	}
	h.Leaving = &to
	body, err := json.Marshal(h)
	if err == nil {
		_, err = j.add(ctx, t, body)
	}
	return err
}

// Restore writes the Sets, and then the head with all of them.
func (s *store) Restore(ctx context.Context, owner string, a release.Archive) error {
	j, t, old, err := s.now(ctx, owner)
	if err != nil {
		return err
	}
	if !old.Deleted {
		return s.wrap("write", j.key(t.number+1), release.ErrConflict)
	}
	if a.Hold != nil {
		if _, at, err := s.Held(ctx, owner); err != nil {
			return err
		} else if _, err := s.PutHold(ctx, owner, *a.Hold, at); err != nil {
			return err
		}
	}
	if a.Record == nil { // what keeps its first release back is all there is
		return nil
	}
	next := head{V: headV, Bundle: a.Record.Bundle, Open: a.Record.Standing().Open(), Sweep: old.Sweep}
	for _, k := range a.Kept {
		data, err := release.EncodeRevision(k.Record, k.Objects)
		if err != nil {
			return err
		}
		r := revision{k.Record.Revision, k.Phase, release.SetDigest(k.Objects), j.setKey(k.Record.Revision)}
		if err := s.create(ctx, r.Blob, data); err != nil {
			return s.wrap("write", r.Blob, err)
		}
		next.Kept = append(next.Kept, r)
	}
	if next.Record, err = release.EncodeRecord(*a.Record); err != nil {
		return err
	}
	body, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if _, err = j.add(ctx, t, body); err == nil {
		j.collect(ctx, next) // what a move that died has written
	}
	return err
}

// setKey is a name that no other Set has.
func (j journal) setKey(number int) string {
	return fmt.Sprintf("%sr%d-%s", j.setsOf(), number, strings.ToLower(rand.Text()))
}

// Drop removes what Leave closed.
func (s *store) Drop(ctx context.Context, owner string, to release.Place) error {
	j, t, h, err := s.read(ctx, owner)
	if err != nil {
		return err
	}
	if t.number == 0 {
		return s.unhold(ctx, owner)
	}
	if !h.Deleted && h.Leaving == nil || h.Leaving != nil && !h.Leaving.Is(to) {
		return s.wrap("delete", j.key(t.number), release.ErrConflict)
	}
	return s.remove(ctx, owner, j, t, h, t.handle())
}
