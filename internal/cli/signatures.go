package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/signing"
)

func (s *session) artifactSignCommand() *cobra.Command {
	var sign signing.Sign
	cmd := &cobra.Command{
		Use:   "sign oci://REGISTRY/REPOSITORY[:TAG|@DIGEST]",
		Short: "Sign an artifact that is in a registry",
		Long: `Sign signs the digest that a tag has now, or the one in the URL: a module, a chart or any other artifact. The signature is
kept beside it in the registry, where cosign verify finds it. With the same key an artifact is signed once.`,
		Example: `  hawser artifact sign oci://registry.example.com/charts/api:2.3.1 --cosign-key cosign.key
  hawser artifact sign oci://registry.example.com/shop/manifests:1.4.2 --identity-token token.txt`,
		Args: reference.Exactly("oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			got, err := t.Sign(cmd.Context(), args[0], sign.How)
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
	sign.Flags(cmd.Flags())
	cmd.Flags().StringVar(&s.opts.output, "format", "text", "form of the answer: text, json, yaml")
	return cmd
}

func (s *session) artifactVerifyCommand() *cobra.Command {
	var verify signing.Verify
	cmd := &cobra.Command{
		Use:   "verify oci://REGISTRY/REPOSITORY[:TAG|@DIGEST]",
		Short: "Check the signature of an artifact that is in a registry",
		Long: `Verify checks that the digest that a tag has now, or the one in the URL, is signed: by a key or an identity, as the flags
say, and by whom the policy of --fleet wants. Modules, charts and other artifacts alike; nothing of it is fetched.

Exit codes: 0 signed, 1 error, 5 not signed by who has to sign it.`,
		Example: `  hawser artifact verify oci://registry.example.com/charts/api:2.3.1 --cosign-key cosign.pub
  hawser artifact verify oci://registry.example.com/shop/manifests:1.4.2 --certificate-identity release@example.com --certificate-oidc-issuer https://accounts.example.com
  hawser artifact verify oci://registry.example.com/modules/web:1.0.0 --fleet fleet.yaml`,
		Args: reference.Exactly("oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := verify.Who(cmd.Flags())
			if err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			got, err := t.VerifyArtifact(cmd.Context(), args[0], asked)
			if err != nil {
				return err
			}
			return s.printData(got, func(report.Style) error {
				_, err := fmt.Fprintf(s.Out, "%s@%s\n", got.URL, got.Digest)
				return err
			})
		},
	}
	verify.WhoFlags(cmd.Flags())
	s.policyFlag(cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	return cmd
}
