package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) moduleInitCommand() *cobra.Command {
	var req toolchain.InitRequest
	var blueprint string
	cmd := &cobra.Command{
		Use:   "init NAME [DIR]",
		Short: "Begin a module from a blueprint",
		Args:  reference.Between(1, "NAME", "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			if req.Name = args[0]; len(args) > 1 {
				req.Dir = args[1]
			}
			req.Blueprint.Place = blueprint
			got, err := t.Init(cmd.Context(), req)
			if err != nil {
				return err
			}
			return s.printData(got, func(report.Style) error {
				fmt.Fprintf(s.Err, "module %s: %s in %s\n", got.Module, many(got.Files, "file"), got.Dir)
				fmt.Fprintf(s.Err, "Next:  hawser module vet %s\n", got.Dir)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&blueprint, "blueprint", "b", "", "module to begin from: a directory or oci://REGISTRY/REPOSITORY")
	f.StringVar(&req.Blueprint.Version, "version", "", "version of the blueprint (default latest)")
	f.StringVar(&req.Blueprint.Digest, "digest", "", "digest the blueprint must have")
	s.policyFlag(f)
	f.StringVar(&req.Path, "path", "", "the module's path in imports (default timoni.sh/NAME)")
	s.opts.outputFlag(f, dataForms...)
	return cmd
}
