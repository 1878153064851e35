package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/prompt"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/report"
)

// saying is a command that writes down what somebody says of a release.
type saying struct {
	verb, done, short, long, tip string
	// asks: the user is asked before it is written.
	asks bool
}

var sayings = []saying{
	{verb: release.Approve, done: "approved", short: "Let a release come to a wave that waits for an approval", asks: true,
		long: `Approve lets the release of a bundle that waits come to the wave it waits for, on every cluster of the wave that answers: a wave
with approval: manual. What is approved is the release as its files and values are; when they change that is another
release. Nothing is delivered yet: the command that made the release goes on with it, from any terminal.`,
		tip: "Run the command that made it again: it goes on with this wave."},
	{verb: release.Pause, done: "paused", short: "Keep a release from the clusters that it has not come to",
		long: `Pause keeps the newest release of a bundle, or the one that is named, from every cluster that it has not come to. A run that is
at work finishes the clusters that it has begun with, and ends; run again it is refused, until hawser resume.`,
		tip: "hawser resume lets it go on."},
	{verb: release.Resume, done: "resumed", short: "Let a release go on that was paused",
		long: `Resume takes back hawser pause. Nothing is delivered yet: the command that made the release goes on with it.`,
		tip:  "Run the command that made it again: it goes on."},
	{verb: release.Abort, done: "aborted", short: "Give a release up, wherever it has not come to", asks: true,
		long: `Abort gives the newest release of a bundle up, or the one that is named: no run goes on with it any more. One that is at work
finishes the clusters that it has begun with, and ends. What was delivered stays; hawser rollback takes it back. The same files
applied again are a new release, whose waves are approved anew.`,
		tip: "What it has come to stays; hawser rollback takes it back."},
}

func (s *session) sayingCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, v := range sayings {
		cmd := s.fleetCmd(v.verb+" BUNDLE [RELEASE]", v.short, v.long+`

It stands in the Secrets in hawser-system of those clusters, with who said it and why (-m); hawser history show tells it.

Exit codes: 0 done, 1 error or nothing to `+v.verb+`, 3 not on every cluster.`,
			"  hawser "+v.verb+" shop --fleet fleet.yaml -m \"CHG-1234\"\n  hawser "+v.verb+" shop 42 --fleet fleet.yaml",
			func(cmd *cobra.Command, req engine.Request) error { return s.say(cmd, v, req) })
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			return reference.Exactly("BUNDLE")(cmd, args[:len(args)-max(0, min(1, len(args)-1))])
		}
		cmd.Flags().StringVarP(&s.opts.message, "message", "m", "", "why, for the record")
		cmd.Flags().BoolVarP(&s.opts.yes, "yes", "y", false, "do not ask") // also where nobody is: scripts need not tell them apart
		out = append(out, cmd)
	}
	return out
}

func (s *session) say(cmd *cobra.Command, v saying, req engine.Request) error {
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	req.Bundle = s.args[0]
	meant := append(s.args, "")[1]
	said, err := eng.Say(cmd.Context(), req, v.verb, meant, func(about *release.Saying) error {
		switch {
		case !v.asks || s.opts.yes:
			return nil
		case !s.interactive():
			return refused("nobody can be asked here whether to "+v.verb, "stdin or stderr is not a terminal", "say it with -y")
		}
		if err := report.Asked(s.Err, about, s.style(s.Err)); err != nil {
			return err
		}
		yes, err := prompt.Prompter{In: s.In, Out: s.Err}.Yes(cmd.Context(), fmt.Sprintf("%s it?", v.verb))
		if err == nil && !yes {
			err = refused("nothing was "+v.done, "the answer was no", "")
		}
		return err
	})
	if said == nil {
		return s.failed(err)
	}
	return s.looked(said, err, func(st report.Style) error { return report.Said(s.Out, said, v.done, v.tip, st) })
}
