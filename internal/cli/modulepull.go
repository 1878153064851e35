package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/signing"
	"hawser.dev/hawser/internal/toolchain"
)

// pulled prints what a pull got: the digest on stdout, the rest on stderr.
func (s *session) pulled(r toolchain.PullResult) error {
	return s.printData(r, func(report.Style) error {
		fmt.Fprintf(s.Err, "pulled %s into %s\n", many(len(r.Files), "file"), r.Dir)
		_, err := fmt.Fprintln(s.Out, r.Digest)
		return err
	})
}

func (s *session) modulePullCommand() *cobra.Command {
	var req toolchain.PullRequest
	var verify signing.Verify
	cmd := &cobra.Command{
		Use:   "pull oci://REGISTRY/REPOSITORY -o DIR",
		Short: "Get a module into a directory",
		Args:  reference.Exactly("oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			if req.Dir == "" {
				return usagef("module pull needs a directory\nFor example: %s %s -o ./web", cmd.CommandPath(), args[0])
			}
			if req.Verify, err = verify.Request(cmd.Flags()); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			req.URL = args[0]
			got, err := t.Pull(cmd.Context(), req)
			if err != nil {
				return err
			}
			return s.pulled(got)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&req.Dir, "output", "o", "", "directory to make")
	f.StringVar(&req.Version, "version", "", "version, tag or range (default latest)")
	f.StringVar(&req.Digest, "digest", "", "digest the module must have")
	f.StringVar(&s.opts.output, "format", "text", "form of the answer: text, json, yaml")
	verify.Flags(f)
	s.policyFlag(f)
	return cmd
}
