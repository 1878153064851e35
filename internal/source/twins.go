package source

import (
	"context"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
)

// codeTwins is the code of sources that hawser.lock cannot tell apart.
const codeTwins = "sources-alike"

// twin reports whether sources differ in nothing but what authenticates in their addresses: hawser.lock has one pin for both.
func (s Source) twin(other Source) bool { return s.Key() == other.Key() && s.clear() != other.clear() }

// Twins refuses sources of one pin that are different content.
func Twins(used []Use) (out diag.Findings) {
	first := map[string]Use{}
	for _, u := range used {
		was, there := first[u.Key()]
		if !there {
			first[u.Key()] = u
		} else if !u.Local() && u.twin(was.Source) && u.Resolved.Digest != was.Resolved.Digest {
			out = append(out, twins(u))
		}
	}
	return out
}

func twins(u Use) diag.Finding {
	f := diag.Errorf(codeTwins, "sources that are different content differ in nothing but what authenticates: %s", u.Key())
	f.Instance, f.Pos, f.Why = u.Instance, u.Pos, lockfile.Name+" keeps no tokens, and has one pin for both"
	f.Fix = "give each an address of its own"
	return f
}

// alike asks what a source and the first one with its pin are now: only where that is one content the pin is that of both.
func (r *Resolver) alike(ctx context.Context, u Use, f module.Fetcher, version string) error {
	if u.twinOf == (module.Reference{}) {
		return nil
	}
	var now [2]string
	for i, ref := range []module.Reference{u.Ref, u.twinOf} {
		if version != "" {
			ref.Version = version
		}
		is, err := f.Resolve(ctx, ref)
		if err != nil {
			return err
		}
		now[i] = is.Digest
	}
	if now[0] != now[1] {
		return diag.Findings{twins(u)}.Err()
	}
	return nil
}

// twinFor is the reference of a source that this run uses and that another one shares its pin with; zero for none. The caller holds mu.
func (r *Resolver) twinFor(s Source) (out module.Reference) {
	if s.Local() {
		return out
	}
	for other, e := range r.known {
		if e.use.twinOf == (module.Reference{}) && s.twin(other) {
			return other.Ref
		}
	}
	return out
}
