package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) moduleVendorCommand() *cobra.Command {
	return parent("vendor COMMAND", "Write the schemas a module imports below its cue.mod/gen",
		"Vendor writes CUE definitions below cue.mod/gen of a module, where its imports find them.",
		`  hawser module vendor crd ./web -f crds.yaml
  hawser module vendor k8s ./web --version 1.34`,
		s.vendorCRD(), s.vendorK8s())
}

// vendored prints what was written.
func (s *session) vendored(r toolchain.VendorResult, err error) error {
	if err != nil {
		return err
	}
	return s.printData(r, func(report.Style) error {
		s.findings(r.Findings)
		for _, source := range r.Sources {
			fmt.Fprintln(s.Err, source)
		}
		for _, p := range r.Packages {
			fmt.Fprintln(s.Out, p)
		}
		fmt.Fprintf(s.Err, "%s in %s, %s written\n", many(len(r.Packages), "package"), r.Dir, many(r.Written, "file"))
		return nil
	})
}

func (s *session) vendorCRD() *cobra.Command {
	var sources []string
	cmd := &cobra.Command{
		Use:   "crd [DIR] -f FILE",
		Short: "CUE from custom resource definitions",
		Args:  reference.AtMostOne("directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			return s.vendored(t.VendorCRDs(cmd.Context(), (&moduleAt{}).module(args).Place, sources, s.In))
		},
	}
	cmd.Flags().StringArrayVarP(&sources, "file", "f", nil, "file or https URL with definitions (repeat it), - for stdin")
	s.policyFlag(cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	return cmd
}

func (s *session) vendorK8s() *cobra.Command {
	var req toolchain.KubernetesRequest
	cmd := &cobra.Command{
		Use:   "k8s [DIR] --version 1.MINOR",
		Short: "CUE from Kubernetes' own types",
		Args:  reference.AtMostOne("directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			if req.Version == "" {
				return usagef("which version of Kubernetes?\nFor example: %s --version 1.34", cmd.CommandPath())
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			req.Dir = (&moduleAt{}).module(args).Place
			return s.vendored(t.VendorKubernetes(cmd.Context(), req))
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Version, "version", "", "version of Kubernetes: 1.34 (its newest patch) or 1.34.1")
	f.StringArrayVar(&req.Packages, "only", nil, "package or kind, for example apps/v1 or apps/v1.Deployment (repeat it; default: all)")
	f.BoolVar(&req.Docs, "docs", false, "keep the comments of the types")
	s.policyFlag(f)
	s.opts.outputFlag(f, dataForms...)
	return cmd
}
