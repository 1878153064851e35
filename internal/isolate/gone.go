package isolate

import (
	"errors"
	"os/exec"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Codes of findings about a child that ended; those of a Watchdog are the others.
const (
	CodeTooLong  = "evaluation-too-long"
	CodeTooLarge = "evaluation-too-large"
	CodeTooDeep  = "evaluation-too-deep"
	CodeKilled   = "evaluation-killed"
	CodeBroke    = "evaluation-broke"
)

// multiplies is what to do about an evaluation that is too much.
const multiplies = "look for comprehensions, disjunctions or templates that multiply; the rest is not touched by it"

// gone says why the child ended while it was asked. What it printed is read, and not shown: values may stand in it.
func (k *kid) gone(q question, err error) error {
	k.mu.Lock()
	late := k.late
	k.mu.Unlock()
	said, title := k.said.String(), q.title()
	f := diag.Errorf(CodeBroke, "%s: the process that evaluated it ended before it was done", title)
	f.Fix = "report it with this message and the kind of source; other instances can be delivered without this one"
	ended, _ := errors.AsType[*exec.ExitError](k.err)
	switch {
	case k.ends != nil:
		f = *k.ends
	case late:
		f = diag.Errorf(CodeTooLong, "%s: evaluation takes longer than %s", title, k.pool.opts.Limits.Deadline)
		f.Fix = multiplies
	case errors.Is(err, errOther):
		f = diag.Errorf(CodeBroke, "%s: the process that should evaluate it is of another hawser than this one", title)
		f.Fix = "hawser was replaced while it ran: run it again"
	case k.garbage:
		f.What = title + ": the process that evaluated it said what is no answer"
	case !k.greeted && said == "":
		f.Why = "it has not begun"
		f.Fix = "start processes is what hawser has to be able to, with --isolate and for health checks that are from records: allow that"
	case strings.Contains(said, "stack overflow") || strings.Contains(said, "stack exceeds"):
		f = diag.Errorf(CodeTooDeep, "%s: evaluation goes deeper and deeper", title)
		f.Fix = "look for what refers to itself, or is nested very deeply"
	case strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory"):
		f = diag.Errorf(CodeTooLarge, "%s: evaluation needs more memory than it may have", title)
		f.Fix = multiplies
	case ended != nil && strings.Contains(ended.Error(), "killed"):
		f = diag.Errorf(CodeKilled, "%s: the process that evaluated it was killed", title)
		f.Why, f.Fix = "the system does that when it has no memory left, else somebody did", "run it again; where it was the memory, "+multiplies
	case ended != nil:
		f.Why = ended.Error()
	}
	return diag.Findings{q.at(f)}.Err()
}

// at says where what a question is about stands.
func (q question) at(f diag.Finding) diag.Finding {
	switch q.What {
	case askDocument:
		if files := q.Source.Options.Files; len(files) == 1 && files[0] != "-" {
			f.Pos.File = files[0]
		}
	case askCheck, askVet:
		f.Pos = q.Rule.Pos
	default:
		f.Instance = q.Request.Instance.Name
	}
	return f
}
