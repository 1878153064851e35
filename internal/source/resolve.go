package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/once"
)

// State says where a source's digest comes from.
type State string

const (
	// Given: the bundle itself says the digest.
	Given State = "given"
	// Pinned: hawser.lock says it, and local content is what is pinned.
	Pinned State = "pinned"
	// Fresh: nothing pins it; it was resolved in this run, or is local.
	Fresh State = "new"
	// Changed: local content is not what hawser.lock pins.
	Changed State = "changed"
)

// Use is a source and what it is in this run.
type Use struct {
	Source
	module.Resolved
	// Content is what was fetched; nothing but a Reading when the renderer reads the files itself.
	Content module.Content
	State   State
	// Instance is the first one that uses it, Pos where the bundle says so.
	Instance string
	Pos      diag.Pos
	// second: an earlier source of the run has this one's pin.
	second bool
}

// Resolver resolves and fetches every distinct source once. It is safe for concurrent use; its fields are set before.
type Resolver struct {
	// Fetchers by the scheme of the URL.
	Fetchers map[string]module.Fetcher
	// Digest is that of the files a renderer reads itself, for sources without URL; what is read is kept in the Reading.
	Digest func(ctx context.Context, in v1alpha1.Instance, kept module.Reading) (string, error)
	// Pins are those of hawser.lock, by Key.
	Pins map[string]lockfile.Pin
	// Locked refuses to resolve what is not pinned, without asking anybody.
	Locked bool
	// Upgrade chooses sources whose pins do not count, where they are pinned anew; nil = this run pins nothing.
	Upgrade func(s Source) bool

	mu    sync.Mutex
	known map[Source]*entry
}

type entry struct {
	use  Use // as asked for
	once once.Value[Use]
}

// Get resolves and fetches an instance's source. Errors carry findings with the instance and its position.
func (r *Resolver) Get(ctx context.Context, in v1alpha1.Instance) (Use, error) {
	s, ok := Of(in)
	if !ok {
		return Use{}, fmt.Errorf("instance %s has no source", in.Name)
	}
	r.mu.Lock()
	if r.known == nil {
		r.known = map[Source]*entry{}
	}
	e, ok := r.known[s]
	if !ok {
		e = &entry{use: Use{Source: s, Instance: in.Name, Pos: Position(in), second: r.hasTwin(s)}}
		r.known[s] = e
	}
	r.mu.Unlock()
	use, err := e.once.Get(ctx, func() (Use, error) {
		use := e.use
		err := r.resolve(ctx, &use, in)
		return use, err
	})
	if err == nil {
		return use, otherVersion(use, in).Err()
	}
	fs := append(diag.Findings{}, diag.From(err, "source")...) // shared by all instances of the source
	for i := range fs {
		if fs[i].Instance == "" {
			fs[i].Instance = in.Name
		}
		if !fs[i].Pos.IsValid() {
			fs[i].Pos = Position(in)
		}
	}
	return use, fs.Err()
}

// resolve fills in what the source is now.
func (r *Resolver) resolve(ctx context.Context, u *Use, in v1alpha1.Instance) (err error) {
	pin, pinned := r.pin(u.Source)
	if u.Ref.URL == "" {
		u.Content.Reading = &once.Map[any, any]{}
		u.Resolved.Digest, err = r.Digest(ctx, in, u.Content.Reading)
		u.State = localState(pin, u.Resolved.Digest)
		return err
	}
	f := r.Fetchers[u.Scheme()]
	if f == nil {
		return fmt.Errorf("nothing here fetches %s:// for %s", u.Scheme(), u.Kind)
	}
	ref := u.Ref
	switch {
	case u.Local(), ref.Digest != "":
		u.State = Given
	case pinned:
		if u.second {
			return diag.Findings{twins(*u, "digest: sha256:..., hawser lock says it of each")}.Err()
		}
		u.State = Pinned
		ref.Version, ref.Digest, ref.Kept = pin.Version, pin.Digest, true // a tag that moved since changes nothing
	case r.Upgrade == nil && r.unclear(u.Source):
		return diag.Findings{unclear(*u)}.Err()
	case r.Locked:
		return unpinned(*u).Err()
	default:
		u.State = Fresh
		now, err := f.Resolve(ctx, ref)
		if err != nil {
			return err
		}
		ref.Version, ref.Digest, ref.Kept = now.Version, now.Digest, true
	}
	u.Content, err = f.Fetch(ctx, ref)
	u.Resolved = module.Resolved{Version: u.Content.Version, Digest: u.Content.Digest}
	if u.Local() && err == nil && ref.Digest == "" {
		u.State = localState(pin, u.Resolved.Digest)
	}
	return err
}

// pin is what hawser.lock says of a source.
func (r *Resolver) pin(s Source) (lockfile.Pin, bool) {
	pin, pinned := s.PinIn(r.Pins)
	if pin.Digest == "" || r.Upgrade != nil && r.Upgrade(s) && s.Promoted.Digest == "" {
		return lockfile.Pin{}, false
	}
	return pin, pinned
}

// unclear reports whether hawser.lock has lost which of several pins is the source's.
func (r *Resolver) unclear(s Source) bool {
	pin, there := r.Pins[s.Key()]
	return there && pin == lockfile.Pin{} && !s.OfOthers
}

func localState(pin lockfile.Pin, digest string) State {
	switch pin.Digest {
	case "":
		return Fresh
	case digest:
		return Pinned
	}
	return Changed
}

// Used are the sources that were resolved without an error, by key.
func (r *Resolver) Used() []Use {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Use
	for _, e := range r.known {
		if use, ok := e.once.Known(); ok && use.State != "" {
			out = append(out, use)
		}
	}
	slices.SortFunc(out, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Key(), b.Key()), cmp.Compare(a.Resolved.Digest, b.Resolved.Digest), cmp.Compare(a.Ref.Dir, b.Ref.Dir))
	})
	return out
}
