package fleet

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// CodeMissingFact is the code of a finding about a fact that a cluster does not have.
const CodeMissingFact = "missing-fact"

// Chosen says how the one cluster of a run without a fleet was chosen: "the current context kind (https://127.0.0.1:6443)".
// given: somebody named the context.
func (a Access) Chosen(given bool) string {
	text := "the current context"
	if given {
		text = "the context"
	}
	if text += " " + a.Context; a.Context == "" {
		text = "the given server"
	}
	if a.Server != "" {
		text += " (" + a.Server + ")"
	}
	return text
}

// withoutFleet says which cluster a run without a fleet is about.
func (f Facts) withoutFleet() string {
	if f.Chosen == "" {
		return "no fleet is given, so there is one cluster, " + f.Name + ", which nothing says anything of"
	}
	return "no fleet is given, so " + f.Chosen + " is the one cluster, " + f.Name
}

// WithoutFleet says of facts that the one cluster of a run without a fleet does not have that no fleet is given. hint says
// where one may be, "" where that is not known.
// Where the documents are wrong for another reason, that is a warning beside it, as long as hint says something.
func WithoutFleet(fs diag.Findings, f Facts, hint string) diag.Findings {
	out, said := slices.Clone(fs), false
	for i, n := range out {
		if n.Code != CodeMissingFact || n.Why != "" || !f.Implicit {
			continue
		}
		said = true
		if hint == "" {
			hint = "name the fleet with --fleet, HAWSER_FLEET or hawser.yaml"
		}
		out[i].Why, out[i].Fix = f.withoutFleet(), hint
		if n.Fix != "" && !strings.HasSuffix(n.Fix, ": nothing") {
			out[i].Fix += "; " + n.Fix
		}
	}
	if !said && out.HasErrors() {
		out = append(out, NoFleet(f, hint)...)
	}
	return out
}

// noFact is how a finding begins that a cluster has no value of a name; with MissingFact the one place that writes it.
const noFact = "cluster %s has no "

// MissingFact is the finding that a cluster has nothing at a path of its facts.
func MissingFact(cluster, path string) diag.Finding {
	return diag.Errorf(CodeMissingFact, noFact+"%s", cluster, path)
}

// Lacking is what decides about how findings of facts that a cluster does not have are told.
type Lacking struct {
	Facts Facts
	// Fleet is nil without one; Near says where one may be.
	Fleet *v1alpha1.FleetSpec
	Near  func() string
	// Env is the environment, and Read whether runtime values are taken from it.
	Env  map[string]string
	Read bool
}

// Explain says of the facts that the findings of an evaluation miss why, and who may give them.
func (l Lacking) Explain(fs diag.Findings) diag.Findings {
	if fs = Unfollowed(fs); l.Facts.Implicit && l.Fleet == nil {
		fs = WithoutFleet(fs, l.Facts, l.Near())
	}
	return FromEnvironment(fs, l.Facts, l.Env, l.Read, l.Fleet != nil && len(l.Fleet.Values) > 0)
}

// FromEnvironment says of runtime values that a cluster does not have (MissingFact) why, and who may give them: queries, where the fleet has some, or
// the environment, which was read or was not. env is the environment.
func FromEnvironment(fs diag.Findings, f Facts, env map[string]string, read, queries bool) diag.Findings {
	out := slices.Clone(fs)
	for i, n := range out {
		name, ok := strings.CutPrefix(n.What, fmt.Sprintf(noFact, f.Name)+"values.")
		if n.Code != CodeMissingFact || !ok || f.Values[name].Absent {
			continue
		}
		switch {
		case f.Implicit:
		case !queries:
			out[i].Why = "the fleet has no query for values"
		case f.UID == "":
			out[i].Why = "without a connection only values of the environment are known"
		}
		out[i].Fix = givenBy(name, n.Fix, env, read, !f.Implicit && (!queries || f.UID != ""), queries)
	}
	return out
}

// givenBy is how a runtime value that is missing is given. has is what else there is, or looks alike; query: a query can give it.
func givenBy(name, has string, env map[string]string, read, query, queries bool) string {
	_, set := env[name]
	if set && !read {
		return name + " is set in the environment: --runtime-from-env reads it"
	}
	declare := "have a query of the fleet give it (fleet.values: [{query: ..., for: {" + name + ": ...}}])"
	export := "export " + name + ", which the environment does not have"
	if !read {
		export = "set " + name + " in the environment and give --runtime-from-env"
	}
	switch none := has == "" || strings.HasSuffix(has, ": nothing") || query && !queries && strings.HasPrefix(has, "values has: "); {
	case query && none:
		return declare + ", or " + export
	case query:
		return has + "; else " + declare + ", or " + export
	case read && none:
		return export
	case read:
		return has + "; or " + export
	}
	return has
}

// Unfollowed are findings without those that only follow from a fact that is missing at the same place: that nothing is of
// the wrong type.
func Unfollowed(fs diag.Findings) diag.Findings {
	missing := map[string]bool{}
	for _, f := range fs {
		missing[f.Path] = missing[f.Path] || f.Code == CodeMissingFact
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f diag.Finding) bool { return missing[f.Path] && f.Path != "" && f.Code != CodeMissingFact })
}

// NoFleet warns that a run found nothing on its one cluster, where a fleet may have been meant; nil where hint, which says
// where that is, is "".
func NoFleet(f Facts, hint string) diag.Findings {
	if hint == "" || !f.Implicit {
		return nil
	}
	n := diag.Warnf("no-fleet", "%s", f.withoutFleet())
	n.Fix = hint
	return diag.Findings{n}
}
