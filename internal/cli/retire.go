package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/report"
)

func (s *session) fleetRetireCommand() *cobra.Command {
	keep, remove := false, false
	cmd := &cobra.Command{
		Use:   "retire CLUSTER --delete|--keep",
		Short: "End what a cluster that left the fleet still has from it",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name the one cluster to retire\nFor example: hawser fleet retire old-eu --delete -f shop.yaml -r fleet.yaml")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.retire(cmd, args[0], remove, keep) },
	}
	f := cmd.Flags()
	f.BoolVar(&remove, "delete", false, "delete what the cluster has from this fleet, then forget it")
	f.BoolVar(&keep, "keep", false, "leave everything there and forget the cluster")
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, "text", "json")
	f.BoolVarP(&s.opts.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&s.opts.dryRun, "dry-run", false, "show what would be deleted and stop")
	f.BoolVar(&s.opts.wait, "wait", true, "wait until everything is gone")
	s.opts.hookFlag(f)
	s.opts.unservedFlag(f)
	f.StringVar(&s.opts.progress, "progress", "auto", "progress: auto, live or plain")
	return cmd
}

// retire deletes or leaves what a cluster has, and lets hawser.lock forget it.
func (s *session) retire(cmd *cobra.Command, cluster string, remove, keep bool) error {
	if err := checkForm(s.opts.output, "text", "json"); err != nil {
		return err
	}
	if remove == keep {
		return usagef("say what becomes of what runs on %s: --delete, or --keep to leave it there", cluster)
	}
	req, err := s.request(cmd)
	if err != nil {
		return err
	}
	req.Retire, req.Keep = cluster, keep
	pr := s.newProgress()
	if s.opts.output == "json" && remove && !s.opts.dryRun {
		pr.ndjson(s.Out, "delete")
	}
	eng, err := s.engine(pr)
	if err != nil {
		return err
	}
	known, err := eng.Retiring(cmd.Context(), req)
	if err != nil {
		return s.refusedEvent(pr, err)
	}
	for _, bundle := range slices.Backward(known.Bundles) {
		if !remove {
			break
		}
		if err := s.retireBundle(cmd, pr, eng, req, bundle); err != nil {
			return err
		}
	}
	if s.opts.dryRun {
		return nil
	}
	if err := eng.Retire(cmd.Context(), req); err != nil {
		return err
	}
	if s.opts.output == "json" {
		if keep {
			return report.JSON(s.Out, known)
		}
		return nil
	}
	what := "nothing of the fleet runs there"
	switch {
	case remove && len(known.Bundles) > 0:
		what = "deleted there: " + strings.Join(known.Bundles, ", ")
	case keep && len(known.Bundles) > 0:
		what = "left there: " + strings.Join(known.Bundles, ", ")
	case keep && !known.Known:
		what = "left there: whatever was delivered"
	}
	_, err = fmt.Fprintf(s.Out, "Cluster %s is retired from the fleet %s; %s. %s forgot it.\n", cluster, known.Fleet, what, known.Lock)
	return err
}

// retireBundle is the delete of one bundle on the cluster to retire.
func (s *session) retireBundle(cmd *cobra.Command, pr *progress, eng Engine, req engine.Request, bundle string) error {
	req.Bundle = bundle
	pr.begin(nil)
	p, err := eng.PlanDelete(cmd.Context(), req)
	pr.end()
	if err != nil {
		return s.refusedEvent(pr, err)
	}
	if s.opts.dryRun {
		return s.printPlan(s.Out, p.FleetPlan)
	}
	return s.carryOut(cmd, pr, eng, operation.Bundles{{Request: req, Plan: p}}, s.confirmDelete)
}
