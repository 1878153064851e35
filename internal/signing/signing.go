// Package signing is the flags with which artifacts are signed and verified, and what they mean together. They are Timoni's and
// cosign's.
//
// signing must not know commands, nor how anything is signed.
package signing

import (
	"slices"

	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/toolchain"
)

// cosign is the one form of signatures there is, and what --sign and --verify take.
const cosign = "cosign"

// Sign is how an artifact is signed, as flags say it.
type Sign struct {
	Form string
	How  signature.Sign
}

// Flags are those that say how.
func (g *Sign) Flags(f *pflag.FlagSet) {
	f.StringVar(&g.How.Key, "cosign-key", "", "private key to sign with: a file (PEM; the password of an encrypted one is in COSIGN_PASSWORD) or env://VARIABLE")
	f.StringVar(&g.How.TokenFile, "identity-token", "", "file with the token to sign with, without a key (default: SIGSTORE_ID_TOKEN, GitHub Actions)")
	f.BoolVar(&g.How.Log, "tlog-upload", false, "put what a key signs into the public transparency log, too")
	f.StringVar(&g.How.Fulcio, "fulcio-url", "", "certificate authority (default: the public Sigstore's)")
	f.StringVar(&g.How.Rekor, "rekor-url", "", "transparency log (default: the public Sigstore's)")
	f.StringVar(&g.How.Timestamps, "timestamp-server-url", "", "timestamp authority to ask, too")
}

// Request is nil when nothing is to be signed. A flag that says how, without --sign, is a mistake: nobody would notice.
func (g *Sign) Request(f *pflag.FlagSet) (*signature.Sign, error) {
	if err := chosen(f, "sign", g.Form, "cosign-key", "identity-token", "tlog-upload", "fulcio-url", "rekor-url", "timestamp-server-url"); err != nil || g.Form == "" {
		return nil, err
	}
	return &g.How, nil
}

// chosen checks --sign or --verify against the flags that belong to it.
func chosen(f *pflag.FlagSet, flag, form string, belong ...string) error {
	for _, name := range belong {
		if form == "" && f.Changed(name) {
			return mistake("--"+name+" does nothing without --"+flag+" "+cosign, "add --"+flag+" "+cosign+", or leave it out")
		}
	}
	if form != "" && form != cosign {
		return mistake("--"+flag+" "+form+" is not known", "the one form there is: --"+flag+" "+cosign)
	}
	return nil
}

// Verify is who must have signed an artifact, as flags say it.
type Verify struct {
	form string
	who  toolchain.Verify
}

// Flags are --verify and those that say who.
func (v *Verify) Flags(f *pflag.FlagSet) {
	f.StringVar(&v.form, "verify", "", "take it only if it is signed; the form is cosign")
	v.WhoFlags(f)
}

// WhoFlags are those that say who, for a command that does nothing but verify.
func (v *Verify) WhoFlags(f *pflag.FlagSet) {
	f.StringVar(&v.who.By.Key, "cosign-key", "", "file with the public key (PEM) it must be signed with")
	f.StringVar(&v.who.By.Identity, "certificate-identity", "", "identity it must be signed by, without a key")
	f.StringVar(&v.who.By.IdentityRegexp, "certificate-identity-regexp", "", "regular expression that is found in the identity; ^ and $ match its ends")
	f.StringVar(&v.who.By.Issuer, "certificate-oidc-issuer", "", "issuer of the identity")
	f.StringVar(&v.who.By.IssuerRegexp, "certificate-oidc-issuer-regexp", "", "regular expression that is found in the issuer")
	f.StringVar(&v.who.TrustedRoot, "trusted-root", "", "trusted_root.json to check identities with (default: the public Sigstore's)")
}

// whoFlags are the names of the flags that say who.
var whoFlags = []string{"cosign-key", "certificate-identity", "certificate-identity-regexp", "certificate-oidc-issuer",
	"certificate-oidc-issuer-regexp", "trusted-root"}

// Who is who must have signed it, nil when no flag says it.
func (v *Verify) Who(f *pflag.FlagSet) (*toolchain.Verify, error) {
	if !slices.ContainsFunc(whoFlags, f.Changed) {
		return nil, nil
	}
	v.form = cosign
	return v.Request(f)
}

// Request is nil when nobody has to have signed it.
func (v *Verify) Request(f *pflag.FlagSet) (*toolchain.Verify, error) {
	if err := chosen(f, "verify", v.form, whoFlags...); err != nil || v.form == "" {
		return nil, err
	}
	if problem := v.who.By.Problem(); problem != "" {
		said := "--verify cosign does"
		if f.Lookup("verify") == nil {
			said = "the flags do"
		}
		return nil, mistake(said+" not say who has to sign: "+problem,
			"name a key with --cosign-key, or an identity with --certificate-identity and --certificate-oidc-issuer")
	}
	return &v.who, nil
}

func mistake(what, fix string) error {
	return diag.Findings{{Severity: diag.Error, Code: "usage", What: what, Fix: fix}}.Err()
}
