package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/built"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

func (s *session) vetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vet -f BUNDLE [--fleet FLEET]",
		Short: "Check a bundle for every selected cluster; write nothing",
		Args:  reference.Nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.eachBundle(cmd, func() operation.Told { return s.vet(cmd) })
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.outputFlag(f, dataForms...)
	f.BoolVar(&s.opts.printValue, "print-value", false, "print what the bundle evaluates to, as CUE")
	f.StringVar(&s.opts.explain, "explain-value", "", "say which layer decided INSTANCE.PATH")
	f.BoolVar(&s.opts.standIns, "stand-ins", false, "check with stand-ins for secrets that cannot be read here, instead of refusing")
	s.opts.lockedFlag(f)
	f.StringVar(&s.opts.facts, "facts", "", "snapshot of the clusters' facts to use instead of the clusters (see: fleet snapshot)")
	s.completeFleet(cmd)
	return cmd
}

func (s *session) vet(cmd *cobra.Command) operation.Told {
	if err := checkForm(s.opts.output, dataForms...); err != nil {
		return operation.Failed(err)
	}
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return operation.Failed(err)
	}
	if s.opts.explain != "" {
		return operation.Failed(s.explainValue(cmd, req))
	}
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return operation.Failed(err)
	}
	r, err := eng.Vet(cmd.Context(), req)
	return operation.Told{Err: err, Show: func() error { return s.showVet(r, err) }}
}

// showVet shows what a bundle was found to be.
func (s *session) showVet(r *fleetplan.VetReport, err error) error {
	if r == nil || s.opts.bundle == "" && operation.Several(err) {
		return s.failed(err)
	}
	if s.opts.output != "text" {
		if perr := s.printData(r, nil); perr != nil {
			return perr
		}
		return reported(err)
	}
	s.differFor(r.Findings)
	if len(r.Findings) > 0 {
		if perr := report.Findings(s.Err, r.Findings, s.style(s.Err)); perr != nil {
			return perr
		}
	}
	if err != nil {
		if len(r.Findings) == 0 {
			return err
		}
		return reported(err)
	}
	if s.opts.printValue {
		for _, c := range r.Clusters {
			if _, err := fmt.Fprint(s.Out, built.Value(c, r.Declared)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range r.Instances {
		fmt.Fprintln(s.Err, r.ValidInstance(name))
	}
	fmt.Fprintln(s.Err, r.Valid())
	return nil
}

func (s *session) explainValue(cmd *cobra.Command, req engine.Request) error {
	if s.Explain == nil {
		return usagef("this build cannot explain values")
	}
	list, err := s.Explain(cmd.Context(), req, s.opts.explain)
	if err != nil {
		return s.failed(err)
	}
	return s.printData(place.Document{V: report.DocumentVersion, Layers: list}, func(report.Style) error {
		_, err := fmt.Fprint(s.Out, place.Text(list))
		return err
	})
}

// many is "1 cluster" or "3 clusters".
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
