package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/built"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

func (s *session) buildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build -f BUNDLE [--fleet FLEET]",
		Short: "Print the objects of a bundle as YAML",
		Args:  reference.Nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []*fleetplan.BuildResult // of a directory all is written, or nothing
			if err := s.eachBundle(cmd, func() operation.Told { return s.build(cmd, &all) }); err != nil || s.opts.outputDir == "" {
				return err
			}
			return built.Files(all, s.opts.outputDir, s.Err)
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	f.StringVar(&s.opts.outputDir, "output-dir", "", "write every object into a file below this directory")
	f.BoolVar(&s.opts.maskSecrets, "mask-secrets", false, "print *** for the data of Secrets and for secret runtime values (not in files)")
	f.BoolVar(&s.opts.standIns, "stand-ins", false, "print stand-ins for secrets that cannot be read here, and for values that only the cluster knows, instead of refusing")
	s.opts.lockedFlag(f)
	f.StringVar(&s.opts.facts, "facts", "", "snapshot of the clusters' facts to use instead of the clusters (see: fleet snapshot)")
	s.completeFleet(cmd)
	_ = cmd.MarkFlagDirname("output-dir")
	return cmd
}

// build prints what a bundle renders to, or keeps it for a directory.
func (s *session) build(cmd *cobra.Command, all *[]*fleetplan.BuildResult) operation.Told {
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return operation.Failed(err)
	}
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return operation.Failed(err)
	}
	r, err := eng.Build(cmd.Context(), req)
	if err != nil {
		return operation.Failed(err)
	}
	return operation.Told{Show: func() error { return s.showBuild(r, all) }}
}

// showBuild prints what was built, or keeps it for a directory.
func (s *session) showBuild(r *fleetplan.BuildResult, all *[]*fleetplan.BuildResult) error {
	if len(r.Findings) > 0 {
		_ = report.Findings(s.Err, r.Findings, s.style(s.Err))
	}
	s.differFor(r.Findings)
	if r.MultiCluster {
		s.differ("build", "several clusters are built at once")
	}
	for i := range r.Items {
		r.Items[i].Objects = built.InOrder(r.Items[i].Objects)
	}
	if len(r.Items) == 0 {
		fmt.Fprintf(s.Err, "nothing is built: no instance of bundle %s is placed\n", r.Bundle)
	}
	if s.opts.outputDir != "" {
		*all = append(*all, r)
		return nil
	}
	var b bytes.Buffer
	if err := built.Stream(&b, r, s.opts.maskSecrets); err != nil {
		return err
	}
	_, err := unmasked(s.Out).Write(b.Bytes())
	return err
}
