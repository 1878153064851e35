package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/report"
)

func (s *session) listCommand() *cobra.Command {
	var namespace string
	var all bool
	cmd := s.fleetCmd("list [BUNDLE]", "List the instances that were delivered, from the records alone",
		`List shows what the records of the selected clusters say: each instance with its bundle, namespaces, version, release, when
it was delivered, and how that ended. No object is looked at: status does that.

Exit codes: 0 done, 1 error, 3 some cluster is unknown.`,
		"  hawser list --fleet fleet.yaml\n  hawser list --fleet fleet.yaml --group staging -n shop\n  hawser list shop -o json",
		func(cmd *cobra.Command, req engine.Request) error {
			if all && namespace != "" {
				return usagef("-n and -A exclude each other\nWithout -n every namespace is listed")
			}
			if err := s.name(s.args); err != nil {
				return err
			}
			req.Bundle = s.opts.bundle
			l, err := s.delivered(cmd, req)
			if l == nil {
				return s.failed(err)
			}
			l.Narrow(namespace, "")
			return s.looked(l, err, func(st report.Style) error { return report.Listing(s.Out, l, st) })
		})
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only instances with objects in this namespace")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "every namespace, which is the default")
	cmd.Args = reference.AtMostOne("bundle")
	s.opts.bundleFlag(cmd.Flags())
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
	var namespace, bundle string
	cmd := s.fleetCmd(part+" INSTANCE", short, long+"\n\nExit codes: 0 done, 1 error, 3 some cluster is unknown.",
		"  hawser inspect "+part+" api --fleet fleet.yaml\n  hawser inspect "+part+" api --bundle shop -o json",
		func(cmd *cobra.Command, req engine.Request) error {
			req.Bundle = bundle
			l, err := s.delivered(cmd, req)
			if l == nil || err != nil && !errors.Is(err, fleetplan.ErrPartial) {
				return s.failed(err)
			}
			if missing := l.Find(namespace, s.args[0]); missing != nil {
				return s.failed(missing)
			}
			if part == "values" {
				return s.failed(l.ValuesMissing())
			}
			return s.looked(l, err, func(st report.Style) error { return report.Inspected(s.Out, l, part, st) })
		})
	cmd.Args = reference.Exactly("INSTANCE")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only an instance with objects in this namespace")
	cmd.Flags().StringVar(&bundle, "bundle", "", "only that of this bundle")
	return cmd
}
