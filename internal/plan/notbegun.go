package plan

import (
	"slices"

	"hawser.dev/hawser/internal/diag"
)

// NotBegun is what a run that has ended did not begin of an instance, and because of what.
type NotBegun struct {
	// Instance is "" where nobody knows whose the objects are.
	Instance string `json:"instance,omitempty"`
	// Objects is how many were to be written or deleted and were not. Partly: others of the instance were, or were to be and failed.
	Objects int  `json:"objects"`
	Partly  bool `json:"partly,omitempty"`
	// After are the instances that it depends on, or takes values from, and that failed or were not begun.
	After []string `json:"after,omitempty"`
	// Why says it for people: "it depends on db: db not ready".
	Why string `json:"why"`
}

// String is a sentence without its end: "instance app was not begun: it depends on db: db not ready".
func (n NotBegun) String() string {
	what := "instance " + n.Instance + " was not begun"
	switch {
	case n.Instance == "":
		what = diag.Counted(n.Objects, "object") + " not begun"
	case n.Partly:
		what = diag.Counted(n.Objects, "object") + " of instance " + n.Instance + " not begun"
	}
	return what + ": " + n.Why
}

// Unfinished are the names of instances that a run left undone; of those that were not begun that is said.
func Unfinished(names []string, not []NotBegun) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if slices.ContainsFunc(not, func(n NotBegun) bool { return n.Instance == name && !n.Partly }) {
			out[i] += " not begun"
		}
	}
	return out
}
