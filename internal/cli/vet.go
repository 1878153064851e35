package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/report"
)

func (s *session) vetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vet -f BUNDLE [--fleet FLEET]",
		Short: "Check a bundle for every selected cluster; write nothing",
		Long: `Vet loads, resolves and renders for every selected cluster, and checks the result against the modules' schemas and
the clusters' APIs, or, with --facts, against what a snapshot knows of them.
--print-value prints what the bundle evaluates to: "staging-eu": bundle: {...} for every declared cluster, bundle: {...}
without a fleet. --explain-value says which layer decided a value.

Exit codes: 0 valid, 1 not valid.`,
		Example: `  hawser vet -f shop.yaml --fleet fleet.yaml
  hawser vet -f shop.yaml --fleet fleet.yaml --facts facts.json      # offline
  hawser vet -f shop.cue --fleet fleet.yaml --print-value --cluster staging-eu
  hawser vet -f shop.yaml --fleet fleet.yaml --explain-value api.region --cluster staging-eu`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.eachBundle(cmd, exitChanges, func() error { return s.vet(cmd) })
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.outputFlag(f, dataForms...)
	f.BoolVar(&s.opts.printValue, "print-value", false, "print what the bundle evaluates to, as CUE")
	f.StringVar(&s.opts.explain, "explain-value", "", "say which layer decided INSTANCE.PATH")
	s.opts.lockedFlag(f)
	f.StringVar(&s.opts.facts, "facts", "", "snapshot of the clusters' facts to use instead of the clusters (see: fleet snapshot)")
	s.completeFleet(cmd)
	return cmd
}

func (s *session) vet(cmd *cobra.Command) error {
	if err := checkForm(s.opts.output, dataForms...); err != nil {
		return err
	}
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return err
	}
	if s.opts.explain != "" {
		return s.explainValue(cmd, req)
	}
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	r, err := eng.Vet(cmd.Context(), req)
	if r == nil {
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
			if _, err := fmt.Fprint(s.Out, valueBlock(c, r.Declared)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range r.Instances {
		fmt.Fprintf(s.Err, "instance %s is valid\n", name)
	}
	fmt.Fprintf(s.Err, "bundle %s is valid on %s\n", r.Bundle, many(len(r.Clusters), "cluster"))
	return nil
}

// valueBlock is a cluster's value as CUE; fields of declared clusters stand under the cluster's name.
func valueBlock(c fleetplan.ClusterValues, declared bool) string {
	text := strings.TrimSpace(c.Bundle)
	if text == "" {
		return ""
	}
	if declared {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, "bundle:") || strings.HasPrefix(l, "bundles:") {
				lines[i] = fmt.Sprintf("%q: %s", c.Cluster, l)
			}
		}
		text = strings.Join(lines, "\n")
	}
	return text + "\n"
}

func (s *session) explainValue(cmd *cobra.Command, req engine.Request) error {
	if s.Explain == nil {
		return usagef("this build cannot explain values")
	}
	list, err := s.Explain(cmd.Context(), req, s.opts.explain)
	if err != nil {
		return s.failed(err)
	}
	doc := struct {
		V      int           `json:"v"`
		Layers []Explanation `json:"layers"`
	}{1, list}
	return s.printData(doc, func(report.Style) error {
		for i, l := range list {
			mark := " "
			if i == len(list)-1 || list[i+1].Cluster != l.Cluster || list[i+1].Path != l.Path {
				mark = ">" // the last layer of a cluster won
			}
			if i == 0 || list[i-1].Cluster != l.Cluster {
				fmt.Fprintf(s.Out, "%s  %s\n", l.Cluster, l.Path)
			}
			value := l.Value
			if value == "" {
				value = strings.TrimSpace("not set in the bundle; " + l.Hint)
				value = strings.TrimSuffix(value, ";")
			}
			if _, err := fmt.Fprintln(s.Out, strings.TrimRight(fmt.Sprintf(" %s %-24s %-24s %s", mark, l.Layer, value, l.Pos), " ")); err != nil {
				return err
			}
		}
		return nil
	})
}

// many is "1 cluster" or "3 clusters".
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
