package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/report"
)

func (s *session) listCommand() *cobra.Command {
	var namespace, bundle string
	var all bool
	cmd := s.fleetCmd("list", "List the instances that were delivered, from the records alone",
		`List shows what the records of the selected clusters say: each instance with its bundle, namespaces, version, revision, when
it was delivered, and how that ended. No object is looked at: status does that.

Exit codes: 0 done, 1 error, 3 some cluster is unknown.`,
		"  hawser list --fleet fleet.yaml\n  hawser list --fleet fleet.yaml --group staging -n shop\n  hawser list --bundle shop -o json",
		func(cmd *cobra.Command, req engine.Request) error {
			if all && namespace != "" {
				return usagef("-n and -A exclude each other\nWithout -n every namespace is listed")
			}
			req.Bundle = bundle
			l, err := s.delivered(cmd, req)
			if l == nil {
				return s.failed(err)
			}
			l.Narrow(namespace, "")
			if perr := s.printData(l, func(st report.Style) error { return report.Listing(s.Out, l, st) }); perr != nil {
				return perr
			}
			return reported(err)
		})
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only instances with objects in this namespace")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "every namespace, which is the default")
	cmd.Flags().StringVar(&bundle, "bundle", "", "only this bundle")
	return cmd
}

// delivered reads the records of the selected clusters; the listing is there also beside ErrPartial.
func (s *session) delivered(cmd *cobra.Command, req engine.Request) (*release.Listing, error) {
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return nil, err
	}
	return eng.List(cmd.Context(), req)
}

func (s *session) inspectCommand() *cobra.Command {
	return parent("inspect COMMAND", "Show what was delivered as an instance, from the records alone",
		"Inspect tells of an instance what the records of the selected clusters say; clusters that say the same stand together.",
		"  hawser inspect module api --fleet fleet.yaml\n  hawser inspect resources api --fleet fleet.yaml --cluster staging-eu",
		s.inspectPart("module", "Show the source, version and revision of an instance",
			"Module shows what an instance was made from (a module, chart, kustomization or manifests), the bundle, its revision, who delivered it and when, and where runtime values came from."),
		s.inspectPart("values", "Say where the values of an instance are to be found",
			"Values are in no record: they may hold secrets. What identifies them is, and this command says it, and how to see the values; it exits with 1."),
		s.inspectPart("resources", "List the objects of an instance", "Resources lists the objects of an instance's last delivery, without those of hooks."))
}

func (s *session) inspectPart(part, short, long string) *cobra.Command {
	var namespace, bundle, instance string
	cmd := s.fleetCmd(part+" INSTANCE", short, long+"\n\nExit codes: 0 done, 1 error, 3 some cluster is unknown.",
		"  hawser inspect "+part+" api --fleet fleet.yaml\n  hawser inspect "+part+" api --bundle shop -o json",
		func(cmd *cobra.Command, req engine.Request) error {
			req.Bundle = bundle
			l, err := s.delivered(cmd, req)
			if l == nil || err != nil && !errors.Is(err, fleetplan.ErrPartial) {
				return s.failed(err)
			}
			if missing := l.Find(namespace, instance); missing != nil {
				return s.failed(missing)
			}
			if part == "values" {
				return s.failed(valuesOf(l))
			}
			if perr := s.printData(l, func(st report.Style) error { return report.Inspected(s.Out, l, part, st) }); perr != nil {
				return perr
			}
			return reported(err)
		})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := exactly("INSTANCE")(cmd, args); err != nil {
			return err
		}
		instance = args[0]
		return nil
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only an instance with objects in this namespace")
	cmd.Flags().StringVar(&bundle, "bundle", "", "only that of this bundle")
	return cmd
}

// valuesOf says of each delivery of an instance what identifies its values.
func valuesOf(l *release.Listing) error {
	var out diag.Findings
	for _, c := range l.Clusters {
		for _, b := range c.Bundles {
			for _, in := range b.Instances {
				f := diag.Errorf("values-not-recorded", "the values of %s are in no record", in.Instance)
				f.Why = "records keep no values, which may be secret"
				if in.Inputs != "" {
					f.Why += fmt.Sprintf("; revision %d of %s was made of the inputs %s", b.Revision, b.Bundle, in.Inputs)
				}
				f.Fix = "hawser vet -f BUNDLE --print-value shows what the files give; hawser build -f BUNDLE what is made of them"
				f.Cluster = c.Cluster
				out = append(out, f)
			}
		}
	}
	return out.Alike().Err()
}
