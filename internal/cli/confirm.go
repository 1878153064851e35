package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/prompt"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/retirement"
)

// confirmApply gets the yes for an apply: -y, an answer at the terminal, or, under `bundle` without a terminal, a plan
// that only creates and changes.
func (s *session) confirmApply(ctx context.Context, bundles operation.Bundles) error {
	counts := bundles.Counts()
	switch {
	case s.opts.yes:
		return nil
	case s.interactive():
		return s.ask(ctx, bundles)
	case s.compat && !destroys(counts):
		s.differ("confirm", "nobody can be asked here, and the plan only creates and changes: going on (hawser apply would want -y)")
		return nil
	case s.compat:
		return refused("the plan deletes, adopts or recreates objects, and nobody can be asked here",
			operation.Destroys(counts),
			"look at it with --dry-run, then say it with -y")
	}
	return refused("nobody can be asked here whether to "+bundles[0].Plan.Doing(), "stdin or stderr is not a terminal", "say it with -y")
}

// ask shows what will be written first and where, and asks once for all bundles. What is dear wants their names.
func (s *session) ask(ctx context.Context, bundles operation.Bundles) error {
	fmt.Fprintln(s.Err)
	i := max(0, slices.IndexFunc(bundles, func(b *operation.Bundle) bool { return b.Plan.Does(b.Request.Wait) }))
	if err := report.FirstWrite(s.Err, bundles[i].Plan.FleetPlan, s.style(s.Err)); err != nil {
		return err
	}
	dear, names := operation.Bundles(nil), []string(nil)
	for _, b := range bundles {
		if b.Plan.Verb == "delete" || len(b.Plan.Guard) > 0 && b.Request.ConfirmDelete == nil {
			dear, names = append(dear, b), append(names, b.Plan.Bundle)
		}
	}
	what := bundles[0].Plan.Question(bundles.Where())
	if len(bundles) > 1 {
		what = fmt.Sprintf(map[bool]string{false: "Apply %d bundles to %s?", true: "Put right what drifted of %d bundles on %s?"}[bundles[0].Plan.Verb == "drift"], len(bundles), bundles.Where())
	}
	ask, ok, err := prompt.Prompter{In: s.In, Out: s.Err}, false, error(nil)
	if c := dear.Counts(); len(dear) > 0 {
		ok, err = ask.Typed(ctx, fmt.Sprintf("This deletes %s on %s.", objects(c.Delete+c.Recreate), dear.Where()), strings.Join(names, " "))
	} else {
		ok, err = ask.Yes(ctx, what)
	}
	if err := answered(ok, err); err != nil {
		return err
	}
	for _, b := range dear {
		n := b.Plan.Counts().Delete + b.Plan.Counts().Recreate
		b.Request.ConfirmDelete = &n
	}
	return nil
}

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// confirmForgetting gets the yes for a cluster that is forgotten with what is left on it; nothing is after a delete.
func (s *session) confirmForgetting(ctx context.Context, r *retirement.Retirement, keep bool) error {
	switch {
	case s.opts.yes, !keep:
		return nil
	case s.interactive():
		return answered(prompt.Prompter{In: s.In, Out: s.Err}.Yes(ctx, r.Question()))
	}
	return refused("nobody can be asked here whether to forget cluster "+r.Cluster, "stdin or stderr is not a terminal", "say it with -y")
}

// answered is an error where the answer is no.
func answered(ok bool, err error) error {
	if err == nil && !ok {
		return refused("not confirmed", "nothing was written", "")
	}
	return err
}

// confirmDelete gets the yes for a delete. `bundle delete` states its own intent and is not asked without a terminal.
func (s *session) confirmDelete(ctx context.Context, bundles operation.Bundles) error {
	n := bundles.Counts().Delete
	switch {
	case s.opts.yes, bundles[0].Request.ConfirmDelete != nil && s.opts.confirmDelete == n:
		return nil
	case s.interactive():
		return s.ask(ctx, bundles)
	case s.compat:
		return nil
	}
	return refused("nobody can be asked here whether to delete", "stdin or stderr is not a terminal",
		fmt.Sprintf("say it with -y, or --confirm-delete=%d", n))
}
