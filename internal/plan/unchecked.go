package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// CodeUnchecked is that of the finding that the API server could not check all of a plan that it was to check.
const CodeUnchecked = "not-checked"

// unchecked says, where the API server was to be asked about all that is new, of how many objects it could not be, and why.
func (c *computation) unchecked() diag.Findings {
	if !c.Options.ServerCheck || c.Options.RollingBack {
		return nil
	}
	n, all, why := 0, 0, map[string]int{}
	for _, ch := range c.plan.Changes {
		reason := ch.Deferred
		switch {
		case !ch.Action.Writes() || ch.Action == Delete:
			continue
		case ch.Hook != nil:
			reason = "hooks are checked when they run"
		}
		if all++; reason != "" {
			n++
			why[reason]++
		}
	}
	if n == 0 {
		return nil
	}
	reasons := slices.SortedFunc(maps.Keys(why), func(a, b string) int { return cmp.Or(why[b]-why[a], strings.Compare(a, b)) })
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s (%d)", reason, why[reason])
	}
	return diag.Findings{{Severity: diag.Info, Code: CodeUnchecked, What: fmt.Sprintf("the API server could not check %d of %d objects", n, all), Why: diag.Few(reasons),
		Fix: "what it refuses of them is found when they are written; when what is new is there, --server-check asks about them, too"}}
}
