package document

import (
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// loadFleet evaluates the fleet or runtime of the files, without injecting anything. Files given as a fleet that hold
// none are an error, and so is every error of a value that might have held one: without a fleet the current context is
// meant, which is nothing to fall back to.
func (p *Program) loadFleet(sources []*source) diag.Findings {
	given := len(p.opts.Fleet) > 0
	if given && len(sources) == 0 {
		n := diag.Errorf("no-fleet", "no fleet file is named")
		n.Why, n.Fix = "--fleet is empty", "name the file, or leave --fleet out to mean the current context"
		return diag.Findings{n}
	}
	if !given && !slices.ContainsFunc(sources, (*source).maySayFleet) {
		return nil
	}
	if p.elsewhere != nil && slices.ContainsFunc(sources, (*source).computes) {
		a := p.elsewhere(Question{About: AboutFleet})
		p.fleet = a.Fleet
		return a.Findings
	}
	defer p.opts.Watchdog.Enter("the fleet")()
	in := newInjection(fleet.Facts{})
	value, err := p.build(sources, nil, nil)
	if err == nil && !value.Exists() {
		err = value.Err()
	}
	if err != nil {
		return p.cueFindings(in, err)
	}
	v, found := fleetValue(value)
	if !found {
		return p.noFleet(in, value, sources, given)
	}
	whole := v
	if given { // these files are the fleet: nothing in them may be wrong
		whole = value
	}
	all := appendError(nil, v.Validate(cue.Concrete(true), cue.All()))
	if err := whole.Validate(); given && err != nil && all == nil {
		all = appendError(nil, err)
	}
	var fs diag.Findings
	if all != nil {
		fs = p.cueFindings(in, all)
	}
	d := newDecoder(p, nil)
	p.fleet = d.fleet(v)
	fs = append(fs, d.Findings.WithoutConsequences()...)
	return append(fs, d.dropped(fs)...)
}

// fleetValue is the fleet among the roots of a value, false when it holds none.
func fleetValue(value cue.Value) (v cue.Value, ok bool) {
	for _, root := range []string{rootFleet, rootRuntime} {
		if v, ok := lookup(value, root); ok {
			return v, true
		}
	}
	return cue.Value{}, false
}

// noFleet says why there is no fleet in files that may hold one: nil when nothing is wrong with that.
func (p *Program) noFleet(in *injection, value cue.Value, sources []*source, given bool) diag.Findings {
	if err := value.Validate(); err != nil {
		return p.cueFindings(in, err)
	}
	says := slices.ContainsFunc(sources, func(s *source) bool { return s.fleetInside || s.says(rootFleet) || s.says(rootRuntime) })
	if err := value.Err(); err != nil && (given || says) {
		return p.cueFindings(in, err)
	}
	if !given {
		return nil
	}
	n := diag.Errorf("no-fleet", "no fleet found")
	n.Pos, n.Fix = diag.Pos{File: sources[0].name}, "a file needs fleet: {...}, runtime: {...} or kind: Fleet"
	return diag.Findings{n}
}

// maySayFleet reports whether a source may hold a fleet: CUE may say it by an embedded value or a comprehension.
func (s *source) maySayFleet() bool {
	if s.says(rootFleet) || s.says(rootRuntime) {
		return true
	}
	_, embeds := s.cueNames[embedded]
	return s.syntax == syntaxCUE && (embeds || s.cueNames["kind"] != nil)
}

// names notes the top-level names of a parsed CUE file.
func (s *source) names(f *ast.File) {
	s.cueNames = map[string]ast.Node{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.Field:
			if name, _, err := ast.LabelName(d.Label); err == nil {
				s.cueNames[name] = d.Label
			} else {
				s.cueNames[embedded] = d
			}
		case *ast.EmbedDecl:
			s.cueNames[embedded] = d
		case *ast.Comprehension:
			s.cueNames[embedded] = d
			s.fleetInside = s.fleetInside || saysFleet(d.Value)
		}
	}
}

// saysFleet reports whether the struct of a comprehension declares a fleet.
func saysFleet(x ast.Expr) bool {
	body, ok := x.(*ast.StructLit)
	return ok && slices.ContainsFunc(body.Elts, func(d ast.Decl) bool {
		f, ok := d.(*ast.Field)
		if !ok {
			return false
		}
		name := cuelang.LabelText(f.Label)
		return name == rootFleet || name == rootRuntime
	})
}
