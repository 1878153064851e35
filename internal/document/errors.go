package document

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"hawser.dev/hawser/internal/advice"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// validate reports what CUE finds: errors anywhere, and values that are not concrete within the bundles (hidden
// fields included).
func (p *Program) validate(in *injection, root cue.Value, found []bundleValue) diag.Findings {
	var all errors.Error
	all = appendError(all, root.Validate())
	for _, b := range found {
		all = appendError(all, b.Value.Validate(cue.Concrete(true), cue.All()))
	}
	if all == nil {
		return nil
	}
	return p.cueFindings(in, all)
}

// cueFindings turns CUE errors into findings. Where an injected value takes part, the finding names the attribute, its
// origin and the constraint instead of CUE's text, which would show the value.
func (p *Program) cueFindings(in *injection, err error) diag.Findings {
	var fs diag.Findings
	var rest errors.Error
	named := map[string]bool{}        // data paths said to break an attribute's constraint
	missing := map[Attribute]string{} // to the data path
	for _, e := range errors.Errors(err) {
		path := strings.Join(e.Path(), ".")
		if a := in.involved(e); a != nil {
			named[path] = true
			fs = append(fs, p.constraintFinding(in, a, e))
			continue
		}
		if a, ok := in.missingAt(e); ok {
			missing[a] = path
			continue
		}
		if in.unknownHere(e) {
			continue
		}
		rest = errors.Append(rest, e)
	}
	for _, a := range in.missingOnce() {
		path, said := missing[a]
		if said || isIncomplete(rest) {
			if !said {
				path = a.Field
			}
			missing[a] = path
			n := diag.Errorf("missing-runtime-value", "no value for %s", a.Text)
			n.Pos, n.Path = a.Pos, path
			n.Fix = "set " + a.Var + " in the environment (--runtime-from-env) or in the fleet's values, or give the field a default"
			fs = append(fs, n)
		}
	}
	if f := p.missingVersion(in, rest); f != nil {
		fs = append(fs, *f)
	}
	var left errors.Error
	for _, e := range errors.Errors(rest) {
		path := strings.Join(e.Path(), ".")
		switch {
		case named[path], len(missing) > 0 && incomplete(e):
			// A consequence of what is already said.
		default:
			left = errors.Append(left, e)
		}
	}
	for _, f := range cuelang.FindingsFor(left, p.show(in)) {
		fs = append(fs, advice.For(f))
	}
	return fs.Sorted()
}

// missingVersion explains values that are not concrete because a cluster's version is not known.
func (p *Program) missingVersion(in *injection, rest errors.Error) *diag.Finding {
	if in.facts.Version != "" || !p.versionUsed || !isIncomplete(rest) {
		return nil
	}
	for _, a := range p.attrs {
		if a.Cluster() {
			n := diag.Errorf(fleet.CodeMissingFact, "the version of cluster %s is not known", in.facts.Name)
			n.Pos, n.Path, n.Fix = a.Pos, a.Field+".version", "run with a connection or with --facts FILE"
			return &n
		}
	}
	return nil
}

func (p *Program) show(in *injection) cuelang.Show {
	s := cuelang.Show{Rename: func(name string) string { return display(p.cwd, name) }}
	if in != nil {
		s.Redact = func(text string) string { return in.masker.Said("", text) }
	}
	return s
}

// involved is the injected attribute one of the error's positions belongs to.
func (in *injection) involved(e errors.Error) *injected {
	if in == nil {
		return nil
	}
	for _, pos := range errors.Positions(e) {
		if a := in.done[cuelang.Pos(pos)]; a != nil {
			return a
		}
	}
	return nil
}

func (p *Program) constraintFinding(in *injection, a *injected, e errors.Error) diag.Finding {
	n := diag.Errorf("attribute-constraint", "the value of %s (%s) does not fit", a.Text, a.origin)
	n.Pos, n.Path = a.Pos, in.masker.Redact(strings.Join(e.Path(), "."))
	path := e.Path()
	if len(path) > 0 && path[len(path)-1] == a.Field && a.constraint != "" {
		n.What = "the value of " + a.Text + " (" + a.origin + ") does not satisfy " + in.masker.Said("", a.constraint)
		return n
	}
	var also []string
	for _, pos := range errors.Positions(e) {
		at := cuelang.Pos(pos)
		at.File = display(p.cwd, at.File)
		if s := at.String(); at != a.Pos && s != "" && !slices.Contains(also, s) {
			also = append(also, s)
		}
	}
	if len(also) > 0 {
		n.Why = "see " + strings.Join(also, ", ")
	}
	return n
}

// missingAt is the attribute without a value whose field the error is about.
func (in *injection) missingAt(e errors.Error) (Attribute, bool) {
	path := e.Path()
	if in == nil || len(path) == 0 || !incomplete(e) {
		return Attribute{}, false
	}
	for _, a := range in.missing {
		if a.Field == path[len(path)-1] {
			return a, true
		}
	}
	return Attribute{}, false
}

// unknownHere tells that the error is only that a fact of @hawser(cluster) is not known (the version, offline), or
// that it follows from a {$cluster: ...} already reported.
func (in *injection) unknownHere(e errors.Error) bool {
	if in == nil {
		return false
	}
	path := e.Path()
	for _, at := range in.unresolved {
		if strings.Join(path, ".") == at {
			return true
		}
	}
	if !incomplete(e) || len(path) < 2 || path[len(path)-1] != "version" {
		return false
	}
	for _, a := range in.done {
		if a.Cluster() && a.Field == path[len(path)-2] {
			return true
		}
	}
	return false
}

func incomplete(e errors.Error) bool {
	format, _ := e.Msg()
	text := format + " " + e.Error()
	return strings.Contains(text, "incomplete") || strings.Contains(text, "non-concrete")
}

func isIncomplete(err errors.Error) bool {
	return slices.ContainsFunc(errors.Errors(err), incomplete)
}
