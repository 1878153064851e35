package signature

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/once"
)

// Notes keep signatures, so that content from the cache needs no registry. What they give is verified like any other.
type Notes interface {
	Note(key string) ([]byte, bool)
	KeepNote(key string, data []byte)
}

// Checker verifies artifacts by rules. It is safe for concurrent use; its fields are set before. A nil Checker verifies
// nothing, and lets nothing through that a rule asks for.
type Checker struct {
	Store    module.Signatures
	Verifier Verifier
	// Notes may be nil.
	Notes Notes

	// done is what was found good. What failed is checked again by who asks next: registries come back.
	done once.Map[string, struct{}]
	once sync.Once
}

// maxGood bounds how much of what was found good is kept.
const maxGood = 4096

// Artifact is what is verified: its digest, in the repository of its URL. Version is for messages.
type Artifact struct{ URL, Version, Digest string }

// Check verifies that one signer of every rule has signed the artifact. The error names the artifact, its digest, what was
// expected and what was found. What is found good stays so for the process.
func (c *Checker) Check(ctx context.Context, a Artifact, rules []Rule, root Root) error {
	if len(rules) == 0 {
		return nil
	}
	if c == nil || c.Store == nil || c.Verifier == nil {
		f := diag.Errorf("no-signatures", "%s must be signed, and this build cannot verify signatures", a.URL)
		return diag.Findings{f}.Err()
	}
	c.once.Do(func() { c.done.Most = maxGood })
	for _, r := range rules {
		key := strings.Join([]string{a.URL, a.Digest, fmt.Sprintf("%+q", r.By), string(root.JSON)}, "\x00")
		if _, err := c.done.Try(ctx, key, func() (struct{}, error) { return struct{}{}, c.check(ctx, a, r, root) }); err != nil {
			return err
		}
	}
	return nil
}

// check looks among the signatures that are kept, then among those that the registry has.
func (c *Checker) check(ctx context.Context, a Artifact, r Rule, root Root) error {
	key := "signatures\x00" + a.URL + "\x00" + a.Digest
	kept := map[string]module.Signature{}
	if c.Notes != nil {
		if data, ok := c.Notes.Note(key); ok {
			_ = json.Unmarshal(data, &kept) // what cannot be read is fetched again
		}
	}
	t := &trial{c: c, digest: a.Digest, by: r.By, root: root}
	for _, s := range kept {
		if t.good(ctx, s) {
			return nil
		}
	}
	t.seen = nil
	found := false
	err := c.Store.Signatures(ctx, a.URL, a.Digest, func(s module.Signature) bool {
		if found = t.good(ctx, s); found {
			c.keep(key, kept, s)
		}
		return found || len(t.by) == 0 && len(r.By) > 0 || ctx.Err() != nil
	})
	switch {
	case found:
		return nil
	case t.unable != nil && ctx.Err() == nil:
		return t.unable
	case err != nil && len(t.seen) > 0 && ctx.Err() == nil:
		return append(diag.From(err, "signatures"), diag.From(refused(a, r, t.seen), "")...).Err()
	case err != nil:
		return fmt.Errorf("signatures of %s@%s: %w", a.URL, a.Digest, err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return refused(a, r, t.seen)
}

// trial is how the signatures of an artifact stand up, each by itself: one that is good is enough, whatever the others are.
type trial struct {
	c      *Checker
	digest string
	by     []Signer
	root   Root
	// seen are the others, and why they do not count.
	seen []string
	// unable is what is wrong with what a signer's are checked with. Nobody is asked for that signer again.
	unable error
}

// good reports whether one of the signers made a signature.
func (t *trial) good(ctx context.Context, s module.Signature) bool {
	if s.Broken != "" {
		t.seen = append(t.seen, "a signature that cannot be read: "+diag.Inert(s.Broken))
		return false
	}
	var reasons []string
	able := t.by[:0:0]
	for _, signer := range t.by {
		err := t.verify(ctx, s, signer)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if _, ok := errors.AsType[*diag.FindingsError](err); ok { // what it is checked with is wrong, not the signature
			t.unable = cmp.Or(t.unable, err)
			continue
		}
		able = append(able, signer)
		if reason := diag.Inert(err.Error()); len(reasons) == 0 || reasons[len(reasons)-1] != reason {
			reasons = append(reasons, reason)
		}
	}
	t.by = able
	t.seen = append(t.seen, diag.Inert(t.claims(s))+": "+strings.Join(reasons, "; "))
	return false
}

// verify checks a signature. A panic over one is what is wrong with it.
func (t *trial) verify(ctx context.Context, s module.Signature, by Signer) (err error) {
	defer func() {
		if p := broke.Of(recover()); p != nil {
			err = p
		}
	}()
	return t.c.Verifier.Verify(ctx, s, t.digest, by, t.root)
}

func (t *trial) claims(s module.Signature) (text string) {
	defer func() {
		if broke.Of(recover()) != nil {
			text = "something that is no signature"
		}
	}()
	return t.c.Verifier.Claims(s)
}

// keep remembers a good signature beside those of other signers.
func (c *Checker) keep(key string, kept map[string]module.Signature, s module.Signature) {
	if c.Notes == nil {
		return
	}
	if len(kept) >= 8 {
		clear(kept)
	}
	kept[fmt.Sprint(len(kept))] = s
	if data, err := json.Marshal(kept); err == nil {
		c.Notes.KeepNote(key, data)
	}
}

// refused is the finding for an artifact that nobody who counts has signed.
func refused(a Artifact, r Rule, seen []string) error {
	name := a.URL
	if a.Version != "" {
		name += " " + a.Version
	}
	var want []string
	for _, s := range r.By {
		want = append(want, s.String())
	}
	code, what := "signature-missing", "is not signed"
	found := "it has no signature"
	if len(seen) > 0 {
		code, what = "signature-refused", "is not signed by who has to sign it"
		found = "found " + told(seen)
	}
	f := diag.Errorf(code, "%s (%s) %s", name, a.Digest, what)
	f.Why = fmt.Sprintf("%s wants a signature of %s; %s", r.Where, strings.Join(want, ", or "), found)
	f.Fix = "nothing of it was used: take a version that is signed, or have its publisher sign this one (hawser artifact sign, or cosign sign)"
	return diag.Findings{f}.Err()
}

// maxTold bounds how many signatures a message tells of.
const maxTold = 8

// told are signatures that do not count for a message, equal ones once.
func told(seen []string) string {
	var out []string
	for _, why := range seen {
		if !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	if more := len(out) - maxTold; more > 0 {
		out = append(out[:maxTold], diag.Counted(more, "other"))
	}
	return strings.Join(out, "; and ")
}

// Guard is the fetchers with the policy of a fleet in front of those that fetch from elsewhere: what a rule asks for is
// verified before it is fetched, from the cache as well. A policy that cannot be read lets nothing from elsewhere through.
func (c *Checker) Guard(fleet *v1alpha1.FleetSpec, fetchers map[string]module.Fetcher) map[string]module.Fetcher {
	if fleet == nil || fleet.Signatures == nil {
		return fetchers
	}
	policy, err := New(fleet.Signatures)
	out := maps.Clone(fetchers)
	for scheme, f := range out {
		out[scheme] = &guard{Fetcher: f, checker: c, policy: policy, err: err}
	}
	return out
}

// guard is a fetcher behind a policy.
type guard struct {
	module.Fetcher
	checker *Checker
	policy  *Policy
	err     error
}

// Fetch verifies the digest of what is wanted by the rules that match, then fetches it by that digest.
func (g *guard) Fetch(ctx context.Context, ref module.Reference) (module.Content, error) {
	if _, elsewhere := Place(ref); !elsewhere {
		return g.Fetcher.Fetch(ctx, ref)
	}
	if g.err != nil {
		return module.Content{}, g.err
	}
	rules := g.policy.For(ref)
	if len(rules) == 0 {
		return g.Fetcher.Fetch(ctx, ref)
	}
	if err := g.policy.Unsignable(ref); err != nil {
		return module.Content{}, err
	}
	if ref.Digest == "" {
		now, err := g.Resolve(ctx, ref)
		if err != nil {
			return module.Content{}, err
		}
		ref.Version, ref.Digest, ref.Kept = now.Version, now.Digest, true
	}
	if err := g.checker.Check(ctx, Artifact{URL: ref.URL, Version: ref.Version, Digest: ref.Digest}, rules, g.policy.Root); err != nil {
		return module.Content{}, err
	}
	return g.Fetcher.Fetch(ctx, ref)
}
