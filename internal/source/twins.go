package source

import (
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/redact"
)

// CodeTwins is the code of sources that hawser.lock cannot tell apart.
const CodeTwins = "sources-alike"

// The keys of hawser.lock have no credentials, and nothing made from them: a digest of a short one would give it away, and of a long one it would
// take the pin along whenever the token is renewed, which is when a pin is needed. So a credential says who asks, and chooses nothing; where two
// differ in it alone, neither is given the other's pin. What may be a choice as well as a credential stays in the key where it is a word
// (redact.Credentials).

// Hides reports whether the source has credentials that its key has not.
func (s Source) Hides() bool {
	if s.Local() {
		return false
	}
	clear := s.clear()
	return redact.Credentials(clear) != clear || open(s.Ref.URL) != s.Ref.URL
}

// twin reports whether sources differ in nothing but credentials.
func (s Source) twin(other Source) bool {
	return !s.Local() && s.Ref.URL != other.Ref.URL && s.Key() == other.Key()
}

// Twins refuses to pin sources that one pin would stand for: those that this run uses, each with its digest.
func Twins(used []Use) (out diag.Findings) {
	for i, u := range used {
		for k, other := range used {
			if i != k && u.State != Given && u.twin(other.Source) {
				out = append(out, twins(u, "digest: "+u.Resolved.Digest))
				break
			}
		}
	}
	return out
}

// twins says of a source that another one has its pin; digest is what tells them apart.
func twins(u Use, digest string) diag.Finding {
	f := diag.Errorf(CodeTwins, "sources differ in nothing but their credentials: %s", u.Key())
	f.Instance, f.Pos, f.Why = u.Instance, u.Pos, lockfile.Name+" keeps no credentials, and would have one pin for both"
	f.Fix = "write for each of them which content it is (" + digest + "), or the same address for all"
	return f
}

// unclear says of a source that hawser.lock had several pins for it.
func unclear(u Use) diag.Finding {
	f := diag.Errorf(CodeTwins, "%s does not tell what %s is pinned to", lockfile.Name, u.Key())
	f.Instance, f.Pos, f.Why = u.Instance, u.Pos, "it had several pins that differed in nothing but the credentials of the address, which it no longer keeps"
	f.Fix = pinAll + "; where different content is meant, write for each of them which one (digest: sha256:..., as the file in git's history has it)"
	return f
}

// Taken refuses to change the pin of a source that other bundles pinned to other content: nobody can tell whether it is the same source. others
// gives those that have a key's pin and are not in this run.
func Taken(used []Use, pins map[string]lockfile.Pin, others func(key string) []string) (out diag.Findings) {
	for _, u := range used {
		pin := pins[u.Key()]
		if u.State == Given || u.Promoted.Digest != "" || pin.Digest == "" || pin.Digest == u.Resolved.Digest || !u.Hides() {
			continue
		}
		if names := others(u.Key()); len(names) > 0 {
			f := diag.Errorf(CodeTwins, "%s is pinned to other content for bundle %s", u.Key(), strings.Join(names, ", "))
			f.Instance, f.Pos, f.Why = u.Instance, u.Pos, lockfile.Name+" keeps no credentials, so that nobody can tell whether it is the same source"
			f.Fix = "if it is another one: write which content it is (digest: " + u.Resolved.Digest + "); if it is the same: remove '" + u.Key() +
				"' from the sources of " + lockfile.Name + ", and lock each of these bundles"
			out = append(out, f)
		}
	}
	return out
}

// alike are the sources of instances that have one key with another of them.
func alike(instances []v1alpha1.Instance) map[Source]bool {
	out, first := map[Source]bool{}, map[string]Source{}
	for _, in := range instances {
		s, _ := Of(in)
		if was, there := first[s.Key()]; !there {
			first[s.Key()] = s
		} else if s.twin(was) {
			out[s], out[was] = true, true
		}
	}
	return out
}

// hasTwin reports whether this run uses another source that has the pin of this one. The caller holds mu.
func (r *Resolver) hasTwin(s Source) bool {
	for other := range r.known {
		if s.twin(other) {
			return true
		}
	}
	return false
}
