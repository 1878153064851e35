package cli

import (
	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/prompt"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/report"
)

// saying is a command that writes down what somebody says of a release.
type saying struct {
	verb, done, short, tip string
	// asks: the user is asked before it is written.
	asks bool
}

var sayings = []saying{
	{verb: release.Approve, done: "approved", short: "Let a release come to a wave that waits for an approval", asks: true, tip: "Run the command that made it again: it goes on with this wave."},
	{verb: release.Pause, done: "paused", short: "Keep a release from the clusters that it has not come to", tip: "hawser resume lets it go on."},
	{verb: release.Resume, done: "resumed", short: "Let a release go on that was paused", tip: "Run the command that made it again: it goes on."},
	{verb: release.Abort, done: "aborted", short: "Give a release up, wherever it has not come to", asks: true, tip: "What it has come to stays; hawser rollback takes it back."},
}

func (s *session) sayingCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, v := range sayings {
		cmd := s.fleetCmd(v.verb+" BUNDLE [RELEASE]", v.short, "", "", func(cmd *cobra.Command, req engine.Request) error { return s.say(cmd, v, req) })
		cmd.Args = reference.Between(1, "BUNDLE", "RELEASE")
		if v.verb == release.Approve {
			cmd.Flags().Var(commandline.Wave{At: &s.opts.wave}, "wave", "approve this wave, and no other")
		}
		s.opts.takeOverFlag(cmd.Flags())
		cmd.Flags().StringVarP(&s.opts.message, "message", "m", "", "why, for the record: name no secret, as none is known here that would be masked")
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
	meant := release.Meant{Release: append(s.args, "")[1], Wave: s.opts.wave, Unasked: s.opts.yes}
	said, err := eng.Say(cmd.Context(), req, v.verb, meant, func(about *release.Saying) error {
		if v.asks && !s.opts.yes && s.interactive() {
			_ = report.Asked(s.Err, about, s.style(s.Err)) // the question says what it is about
		}
		return s.agreed(cmd, v.verb, v.done, v.asks)
	})
	if said == nil {
		return s.failed(err)
	}
	return s.looked(said, err, func(st report.Style) error { return report.Said(s.Out, said, v.done, v.tip, st) })
}

// agreed asks whether to do what was shown, unless that was said already, or nobody has to be asked.
func (s *session) agreed(cmd *cobra.Command, verb, done string, asks bool) error {
	switch {
	case s.opts.yes || !asks:
		return nil
	case !s.interactive():
		return refused("nobody can be asked here whether to "+verb, "stdin or stderr is not a terminal", "say it with -y")
	}
	yes, err := prompt.Prompter{In: s.In, Out: s.Err}.Yes(cmd.Context(), verb+" it?")
	if err == nil && !yes {
		err = refused("nothing was "+done, "the answer was no", "")
	}
	return err
}
