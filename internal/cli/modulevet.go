package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/toolchain"
)

// renderFlags are what a module is rendered with.
func renderFlags(f *pflag.FlagSet, req *toolchain.BuildRequest) {
	f.StringVar(&req.Name, "name", "default", "name of the instance")
	f.StringVarP(&req.Namespace, "namespace", "n", "default", "namespace of the instance")
	f.StringVar(&req.KubeVersion, "kube-version", toolchain.DefaultKubeVersion, "version of Kubernetes to render for")
	f.StringVarP(&req.Package, "package", "p", "main", "CUE package of the module")
	f.StringArrayVarP(&req.Files, "values", "f", nil, "values file (CUE, YAML, JSON; repeat it, the later win), - for stdin")
	f.StringArrayVarP(&req.Tags, "tag", "t", nil, "tag to set, for example debug (repeat it)")
}

func (s *session) moduleVetCommand() *cobra.Command {
	var req toolchain.BuildRequest
	var at moduleAt
	var debug bool
	cmd := &cobra.Command{
		Use:   "vet [MODULE]",
		Short: "Check a module: schema, values, objects, images",
		Args:  reference.AtMostOne("module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			if debug {
				req.Tags = append(req.Tags, "debug")
			}
			req.Module, req.Stdin = at.module(args), s.In
			got, err := t.Vet(cmd.Context(), req)
			if err != nil {
				return err
			}
			return s.printData(got, func(report.Style) error {
				s.findings(got.Findings)
				for _, run := range got.Runs {
					fmt.Fprintf(s.Out, "%s: %s valid\n", run.Values, many(len(run.Objects), "object"))
				}
				for _, image := range got.Images {
					fmt.Fprintf(s.Out, "image %s\n", image)
				}
				_, err := fmt.Fprintf(s.Out, "module %s is valid\n", got.Module)
				return err
			})
		},
	}
	f := cmd.Flags()
	renderFlags(f, &req)
	f.BoolVar(&debug, "debug", false, "only with debug_values.cue (the tag debug)")
	at.flags(s, f)
	s.opts.outputFlag(f, dataForms...)
	return cmd
}
