package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/toolchain"
)

// cosign is the one form of signatures there is, and what --sign and --verify take.
const cosign = "cosign"

// signing is how an artifact is signed, as flags say it.
type signing struct {
	form string
	how  signature.Sign
}

func (g *signing) flags(f *pflag.FlagSet) {
	f.StringVar(&g.how.Key, "cosign-key", "", "private key to sign with: a file (PEM; the password of an encrypted one is in COSIGN_PASSWORD) or env://VARIABLE")
	f.StringVar(&g.how.TokenFile, "identity-token", "", "file with the token to sign with, without a key (default: SIGSTORE_ID_TOKEN, GitHub Actions)")
	f.BoolVar(&g.how.Log, "tlog-upload", false, "put what a key signs into the public transparency log, too")
	f.StringVar(&g.how.Fulcio, "fulcio-url", "", "certificate authority (default: the public Sigstore's)")
	f.StringVar(&g.how.Rekor, "rekor-url", "", "transparency log (default: the public Sigstore's)")
	f.StringVar(&g.how.Timestamps, "timestamp-server-url", "", "timestamp authority to ask, too")
}

// request is nil when nothing is to be signed. A flag that says how, without --sign, is a mistake: nobody would notice.
func (g *signing) request(cmd *cobra.Command) (*signature.Sign, error) {
	if err := chosen(cmd, "sign", g.form, "cosign-key", "identity-token", "tlog-upload", "fulcio-url", "rekor-url", "timestamp-server-url"); err != nil || g.form == "" {
		return nil, err
	}
	return &g.how, nil
}

// chosen checks --sign or --verify against the flags that belong to it.
func chosen(cmd *cobra.Command, flag, form string, belong ...string) error {
	for _, name := range belong {
		if form == "" && cmd.Flags().Changed(name) {
			return usagef("--%s does nothing without --%s %s", name, flag, cosign)
		}
	}
	if form != "" && form != cosign {
		return usagef("--%s %s is not known\nThe one form there is: --%s %s", flag, form, flag, cosign)
	}
	return nil
}

// verifying is who must have signed an artifact, as flags say it.
type verifying struct {
	form string
	who  toolchain.Verify
}

func (v *verifying) flags(f *pflag.FlagSet) {
	f.StringVar(&v.form, "verify", "", "take it only if it is signed; the form is cosign")
	f.StringVar(&v.who.By.Key, "cosign-key", "", "file with the public key (PEM) it must be signed with")
	f.StringVar(&v.who.By.Identity, "certificate-identity", "", "identity it must be signed by, without a key")
	f.StringVar(&v.who.By.IdentityRegexp, "certificate-identity-regexp", "", "regular expression that is found in the identity; ^ and $ match its ends")
	f.StringVar(&v.who.By.Issuer, "certificate-oidc-issuer", "", "issuer of the identity")
	f.StringVar(&v.who.By.IssuerRegexp, "certificate-oidc-issuer-regexp", "", "regular expression that is found in the issuer")
	f.StringVar(&v.who.TrustedRoot, "trusted-root", "", "trusted_root.json to check identities with (default: the public Sigstore's)")
}

// request is nil when nobody has to have signed it.
func (v *verifying) request(cmd *cobra.Command) (*toolchain.Verify, error) {
	if err := chosen(cmd, "verify", v.form, "cosign-key", "certificate-identity", "certificate-identity-regexp", "certificate-oidc-issuer",
		"certificate-oidc-issuer-regexp", "trusted-root"); err != nil || v.form == "" {
		return nil, err
	}
	if problem := v.who.By.Problem(); problem != "" {
		return nil, usagef("--verify cosign does not say who has to sign: %s\nName a key with --cosign-key, or an identity with --certificate-identity and --certificate-oidc-issuer", problem)
	}
	return &v.who, nil
}

func (s *session) artifactSignCommand() *cobra.Command {
	var sign signing
	cmd := &cobra.Command{
		Use:   "sign oci://REGISTRY/REPOSITORY[:TAG|@DIGEST]",
		Short: "Sign an artifact that is in a registry",
		Long: `Sign signs the digest that a tag has now, or the one in the URL: a module, a chart or any other artifact. The signature is
kept beside it in the registry, where cosign verify finds it. With the same key an artifact is signed once.`,
		Example: `  hawser artifact sign oci://registry.example.com/charts/api:2.3.1 --cosign-key cosign.key
  hawser artifact sign oci://registry.example.com/shop/manifests:1.4.2 --identity-token token.txt`,
		Args: exactly("oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			got, err := t.Sign(cmd.Context(), args[0], sign.how)
			if err != nil {
				return err
			}
			return s.printData(got, func(report.Style) error {
				fmt.Fprintf(s.Err, "%s by %s\n", map[bool]string{true: "signed before", false: "signed"}[got.Unchanged], got.Signed)
				_, err := fmt.Fprintf(s.Out, "%s@%s\n", got.URL, got.Digest)
				return err
			})
		},
	}
	sign.flags(cmd.Flags())
	cmd.Flags().StringVar(&s.opts.output, "format", "text", "form of the answer: text, json, yaml")
	return cmd
}
