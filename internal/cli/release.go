package cli

import (
	"io"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/workspace"
)

func (s *session) releaseCommand() *cobra.Command {
	from := ""
	tend := func(verb, short string) *cobra.Command {
		cmd := s.fleetCmd(verb+" BUNDLE", short, "", "", func(cmd *cobra.Command, req engine.Request) error { return s.tendRecords(cmd, verb, from, req) })
		cmd.Args = reference.Exactly("BUNDLE")
		cmd.Flags().BoolVarP(&s.opts.yes, "yes", "y", false, "do not ask")
		return cmd
	}
	move := tend(recordkeeping.Moving, "Move the records of a bundle to where the fleet keeps them now")
	move.Flags().StringVar(&from, "from", "cluster", "where they are: cluster, or a fleet file that names the store")
	return parent("release", "Look after the records of releases", "Release looks after where the records of releases are kept, and their locks.", "  hawser release unlock shop --fleet fleet.yaml\n  hawser release move shop --fleet fleet.yaml", tend(recordkeeping.Unlock, "Show who holds the lock of a bundle, and take it away"), move)
}

func (s *session) tendRecords(cmd *cobra.Command, verb, from string, req engine.Request) error {
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	req.Bundle = s.args[0]
	about := &recordkeeping.Report{V: diag.DocumentVersion, Verb: verb, Bundle: req.Bundle, Clusters: []recordkeeping.Row{}}
	var declined error // what stood against it before anything was done
	err = eng.TendRecords(cmd.Context(), req, about, workspace.Former(req.Documents, splitList([]string{from})), func() error {
		if s.opts.yes && (verb == recordkeeping.Moving || s.opts.output != "text") || about.Idle() {
			return nil
		}
		if _, err := io.WriteString(s.Err, about.Lines(false)); err != nil {
			return err
		}
		declined = s.agreed(cmd, verb, "done", true)
		return declined
	})
	err = operation.Named(cmd.Context(), eng, req, recordkeeping.Advised(err))
	if err != nil && (about.Nothing() || exitcode.Of(declined) == exitcode.Refused) { // there may be no cluster yet
		return s.failed(err)
	}
	return s.looked(about, err, func(report.Style) error {
		_, err := io.WriteString(s.Out, about.Lines(true))
		return err
	})
}
