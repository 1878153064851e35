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
		Args:  reference.Exactly("oci://REGISTRY/REPOSITORY"),
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
		Args:  reference.Exactly("oci://REGISTRY/REPOSITORY"),
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
