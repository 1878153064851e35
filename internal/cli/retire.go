package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
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
	f.IntVar(&s.opts.confirmDelete, "confirm-delete", noNumber, "with --delete: the exact number of deletions you confirm")
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
		return usagef("say what becomes of what runs on %s: --delete, or --keep to leave it there\nFor example: hawser fleet retire %s --delete -f shop.yaml -r fleet.yaml", cluster, cluster)
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
	if left := known.Left(); left != "" {
		pr.event(fleetplan.Event{V: report.DocumentVersion, Time: s.Now(), Type: fleetplan.EventNotice, Cluster: cluster, Message: "left there, of others: " + left})
	}
	if remove && len(known.Bundles) > 0 {
		if err := s.retireBundles(cmd, pr, eng, req, known.Bundles); err != nil {
			return err
		}
	}
	if s.opts.dryRun {
		return nil
	}
	if err := s.confirmForgetting(cmd.Context(), known, keep); err != nil {
		return err
	}
	if err := eng.Retire(cmd.Context(), req); err != nil {
		return err
	}
	if s.opts.output == "json" && keep {
		return report.JSON(s.Out, known)
	}
	if s.opts.output != "json" {
		_, err = fmt.Fprintln(s.Out, known.Ended(keep))
	}
	return err
}

// retireBundles deletes bundles from the cluster to retire: each is planned before the first goes.
func (s *session) retireBundles(cmd *cobra.Command, pr *progress, eng Engine, req engine.Request, names []string) error {
	pr.begin(nil)
	bundles := operation.Deletions(cmd.Context(), eng, req, names)
	pr.end()
	if !s.opts.dryRun {
		return s.carryOut(cmd, pr, eng, bundles, s.confirmDelete)
	}
	code, err := s.showEach(cmd, eng, bundles, s.showAndSave)
	return cmp.Or(err, exitcode.Said(code))
}
