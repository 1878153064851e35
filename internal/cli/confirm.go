package cli

import (
	"context"
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
)

// confirmApply gets the yes for an apply: -y, an answer at the terminal, or, under `bundle` without a terminal, a plan
// that only creates and changes.
func (s *session) confirmApply(ctx context.Context, p *fleetplan.FleetPlan, req *engine.Request) error {
	counts := p.Counts()
	switch {
	case s.opts.yes:
		return nil
	case s.interactive():
		return s.ask(ctx, p, req)
	case s.compat && !destroys(counts):
		s.differ("confirm", "nobody can be asked here, and the plan only creates and changes: going on (hawser apply would want -y)")
		return nil
	case s.compat:
		return refused("the plan deletes, adopts or recreates objects, and nobody can be asked here",
			fmt.Sprintf("%d to delete, %d to adopt, %d to recreate; Timoni keeps what leaves a bundle, Hawser prunes it", counts.Delete, counts.Adopt, counts.Recreate),
			"look at it with --dry-run, then say it with -y")
	}
	return refused("nobody can be asked here whether to apply", "stdin or stderr is not a terminal", "say it with -y")
}

// ask shows what will be written first and where, and asks. What is dear wants the bundle's name.
func (s *session) ask(ctx context.Context, p *fleetplan.FleetPlan, req *engine.Request) error {
	fmt.Fprintln(s.Err)
	if first := firstWrite(p); first != "" {
		fmt.Fprintln(s.Err, first)
	}
	ask, ok, err := prompter{s.In, s.Err}, false, error(nil)
	switch n := p.Counts().Delete + p.Counts().Recreate; {
	case p.Verb == "delete", len(p.Guard) > 0 && req.ConfirmDelete == nil:
		ok, err = ask.typed(ctx, fmt.Sprintf("This deletes %s on %s.", objects(n), clusters(p)), p.Bundle)
		if ok {
			req.ConfirmDelete = &n
		}
	case p.Verb == "apply":
		ok, err = ask.yes(ctx, fmt.Sprintf("Apply to %s?", clusters(p)))
	}
	if err != nil {
		return err
	}
	if !ok {
		return refused("not confirmed", "nothing was written", "")
	}
	return nil
}

// firstWrite says which cluster is written first, at which server, and what.
func firstWrite(p *fleetplan.FleetPlan) string {
	for _, c := range p.Clusters {
		if c.Plan == nil || c.Plan.Empty() {
			continue
		}
		where := c.Cluster
		if c.Server != "" {
			where += " (" + c.Server + ")"
		}
		var names []string
		more := 0
		for _, ch := range c.Plan.Changes {
			switch {
			case !ch.Action.Writes():
			case len(names) < 4:
				names = append(names, ch.Action.Mark()+" "+ch.Ref.String())
			default:
				more++
			}
		}
		text := "First to be written: " + where + ": " + strings.Join(names, ", ")
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	}
	return ""
}

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// clusters is how many clusters change, or the name of the only one.
func clusters(p *fleetplan.FleetPlan) string {
	var names []string
	for _, c := range p.Clusters {
		if c.Plan != nil && !c.Plan.Empty() {
			names = append(names, c.Cluster)
		}
	}
	if len(names) == 1 {
		return "cluster " + names[0]
	}
	return fmt.Sprintf("%d clusters", len(names))
}

// confirmDelete gets the yes for a delete. `bundle delete` states its own intent and is not asked without a terminal.
func (s *session) confirmDelete(ctx context.Context, p *fleetplan.FleetPlan, req *engine.Request) error {
	switch {
	case s.opts.yes, req.ConfirmDelete != nil && *req.ConfirmDelete == p.Counts().Delete:
		return nil
	case s.interactive():
		return s.ask(ctx, p, req)
	case s.compat:
		return nil
	}
	return refused("nobody can be asked here whether to delete", "stdin or stderr is not a terminal",
		fmt.Sprintf("say it with -y, or --confirm-delete=%d", p.Counts().Delete))
}
