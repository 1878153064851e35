package toolchain

import (
	"context"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/signature"
)

// Verify says who must have signed an artifact.
type Verify struct {
	// By is the signer; a key is a file.
	By v1alpha1.SignedBy
	// TrustedRoot is a trusted_root.json, "" for the public Sigstore's.
	TrustedRoot string
}

// SignResult is what was signed.
type SignResult struct {
	URL    string `json:"url"`
	Digest string `json:"digest"`
	// Signed says by whom, Unchanged that they had signed it before.
	Signed    string `json:"signed"`
	Unchanged bool   `json:"unchanged"`
}

// Verified is what was verified.
type Verified struct {
	URL    string `json:"url"`
	Digest string `json:"digest"`
}

// Obey verifies what the tools fetch from elsewhere by the policy of a fleet; one without policy changes nothing.
func (t *Tools) Obey(fleet *v1alpha1.FleetSpec) (err error) {
	if fleet == nil || fleet.Signatures == nil {
		return nil
	}
	t.Fetchers = t.Signatures.Guard(fleet, t.Fetchers)
	t.policy, err = signature.New(fleet.Signatures)
	return err
}

// Sign signs an artifact that is in a registry.
func (t *Tools) Sign(ctx context.Context, url string, how signature.Sign) (SignResult, error) {
	signing, err := t.signer(ctx, &how, url)
	if err != nil {
		return SignResult{}, err
	}
	digest, err := t.Digest(ctx, url)
	if err != nil {
		return SignResult{}, err
	}
	out := SignResult{URL: bare(url), Digest: digest, Signed: signing.Who}
	out.Unchanged, err = t.attach(ctx, signing, out.URL, digest)
	return out, err
}

// VerifyArtifact checks that an artifact in a registry is signed by who was asked for and by whom the policy wants. Nothing of it
// is fetched.
func (t *Tools) VerifyArtifact(ctx context.Context, url string, asked *Verify) (Verified, error) {
	switch {
	case !strings.HasPrefix(url, module.SchemeOCI):
		return Verified{}, failure("nothing-to-verify", "signatures are kept in registries", "name oci://REGISTRY/REPOSITORY:TAG")
	case asked == nil && len(t.policy.For(module.Reference{URL: bare(url)})) == 0:
		return Verified{}, failure("nobody-asked-for", "it is not said who must have signed "+url,
			"name a key with --cosign-key, an identity with --certificate-identity and --certificate-oidc-issuer, or a fleet (--fleet) whose policy is for it")
	case t.Signatures == nil:
		return Verified{}, failure("no-signatures", "this build cannot verify", "")
	}
	at, digest, err := t.verified(ctx, url, "", asked)
	return Verified{URL: bare(at), Digest: digest}, err
}

// Digest is what the URL of an artifact means now, with the policy's leave.
func (t *Tools) Digest(ctx context.Context, url string) (string, error) {
	if t.Digests == nil {
		return "", failure("no-registry", "this build cannot talk to registries", "")
	}
	return t.Digests.Digest(ctx, url)
}

// signer is who will sign what is pushed to a URL; nil when nobody is to. It is ready before anything is published.
func (t *Tools) signer(ctx context.Context, how *signature.Sign, url string) (*signature.Signing, error) {
	switch {
	case how == nil:
		return nil, nil
	case !strings.HasPrefix(url, module.SchemeOCI):
		return nil, failure("nothing-to-sign", "signatures are kept in registries, and none is pushed to", "name oci://REGISTRY/REPOSITORY; sign what is in an archive when it is pushed")
	case t.Signers == nil || t.Signatures == nil:
		return nil, failure("no-signatures", "this build cannot sign", "")
	}
	s, err := t.Signers.Signer(ctx, *how)
	return &s, err
}

// signed signs what was pushed to a URL.
func (t *Tools) signed(ctx context.Context, s *signature.Signing, url string, out PushResult, err error) (PushResult, error) {
	if s == nil || err != nil {
		return out, err
	}
	if _, err := t.attach(ctx, s, url, out.Digest); err != nil {
		return out, err
	}
	out.Signed = s.Who
	return out, nil
}

// attach signs an artifact, unless the same key has signed it already.
func (t *Tools) attach(ctx context.Context, s *signature.Signing, url, digest string) (unchanged bool, err error) {
	if len(s.By.Key) > 0 {
		rule := signature.Rule{By: []signature.Signer{s.By}}
		there := &signature.Checker{Store: t.Signatures.Store, Verifier: t.Signatures.Verifier} // what the registry has, not what was kept of it
		if there.Check(ctx, signature.Artifact{URL: url, Digest: digest}, []signature.Rule{rule}, signature.Root{}) == nil {
			return true, nil
		}
	}
	bundle, err := s.Bundle(ctx, digest)
	if err != nil {
		return false, err
	}
	return false, t.Signatures.Store.Attach(ctx, url, digest, bundle)
}

// verified checks an artifact by the policy and by what was asked for; its URL is then that of the digest that was
// verified. Where nobody asks, nothing is done.
func (t *Tools) verified(ctx context.Context, url, digest string, asked *Verify) (string, string, error) {
	rules := t.policy.For(module.Reference{URL: bare(url)})
	if len(rules) == 0 && asked == nil {
		return url, digest, nil
	}
	found, err := t.Digest(ctx, url)
	if err != nil {
		return "", "", err
	}
	if digest != "" && digest != found {
		return "", "", failure("digest-mismatch", url+" has digest "+found+", wanted is "+digest, "review what changed before you take the new digest")
	}
	a := signature.Artifact{URL: bare(url), Digest: found}
	if t.policy != nil {
		if err := t.Signatures.Check(ctx, a, rules, t.policy.Root); err != nil {
			return "", "", err
		}
	}
	if asked != nil {
		signer, err := signature.Read(asked.By)
		if err != nil {
			return "", "", err
		}
		root, err := signature.ReadRoot("", asked.TrustedRoot)
		if err != nil {
			f := diag.Errorf("signature-root", "the trusted root %s cannot be read", strconv.Quote(misplaced.Shown(asked.TrustedRoot)))
			f.Why = err.Error()
			return "", "", diag.Findings{f}.Err()
		}
		if err := t.Signatures.Check(ctx, a, []signature.Rule{{By: []signature.Signer{signer}, Where: "--verify"}}, root); err != nil {
			return "", "", err
		}
	}
	return a.URL + "@" + found, found, nil
}

// bare is the URL of an artifact without its tag and digest.
func bare(url string) string {
	url, _, _ = strings.Cut(url, "@sha256:")
	if colon := strings.LastIndex(url, ":"); colon > strings.LastIndex(url, "/") {
		url = url[:colon]
	}
	return url
}
