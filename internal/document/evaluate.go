package document

import (
	"slices"
	"sync"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// evaluation is what the program says for one distinct set of inputs.
type evaluation struct {
	once     sync.Once
	specs    []v1alpha1.BundleSpec
	findings diag.Findings

	text         sync.Once
	value        string
	valueFinding diag.Findings
}

// at is what the program says for one cluster's inputs.
func (p *Program) at(f fleet.Facts) *evaluation {
	key := p.key(f)
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.memo[key]
	if !ok {
		e = &evaluation{}
		p.memo[key] = e
	}
	return e
}

// Evaluate gives the bundles for a cluster: `bundle` first, then `bundles` in field order. Findings beside the specs
// carry file, line and data path, and never a runtime value; with errors among them the specs are what could be
// understood. Equal inputs are evaluated once; the specs are shared and must not be changed.
//
// A bundle without instances is no finding here: see Vet.
func (p *Program) Evaluate(f fleet.Facts) ([]v1alpha1.BundleSpec, diag.Findings) {
	if p.plain != nil {
		return []v1alpha1.BundleSpec{*p.plain}, nil
	}
	e := p.at(f)
	e.once.Do(func() {
		a := p.ask(Question{About: AboutBundles, Facts: f})
		e.specs, e.findings = a.Specs, a.Findings
	})
	return append([]v1alpha1.BundleSpec(nil), e.specs...), append(diag.Findings(nil), e.findings...)
}

func (p *Program) evaluate(f fleet.Facts) ([]v1alpha1.BundleSpec, diag.Findings) {
	in := newInjection(f)
	root, err := p.build(p.files, in, nil)
	if err == nil && !root.Exists() {
		err = root.Err()
	}
	if err != nil {
		return nil, append(in.findings, p.cueFindings(in, err)...).Sorted()
	}
	found := bundleValues(root)
	fs := in.findings
	fs = append(fs, p.validate(in, root, found)...)
	if len(found) == 0 && !fs.HasErrors() {
		n := diag.Errorf("no-bundle", "no bundle found")
		if len(p.files) > 0 {
			n.Pos = diag.Pos{File: p.files[0].name}
		}
		n.Fix = "a file needs bundle: {...}, bundles: {NAME: {...}} or kind: Bundle"
		return nil, append(fs, n).Sorted()
	}
	specs := make([]v1alpha1.BundleSpec, 0, len(found))
	for _, b := range found {
		d := newDecoder(p, in)
		specs = append(specs, d.bundle(b.Value, b.Name))
		fs = append(fs, d.Findings.WithoutConsequences()...)
		fs = append(fs, d.dropped(fs)...)
	}
	fs = append(fs, checkLoad(specs, found, newDecoder(p, in))...)
	return specs, fs.Sorted()
}

// Bundles lists the names of the bundles as far as they do not depend on the cluster: for verbs that look at what is
// installed and need no values.
func (p *Program) Bundles() []string {
	if p.plain != nil {
		return []string{p.plain.Name}
	}
	return p.ask(Question{About: AboutNames}).Names
}

func (p *Program) names() []string {
	root, err := p.build(p.files, nil, nil)
	if err != nil {
		return nil
	}
	var out []string
	for _, b := range bundleValues(root) {
		name, err := b.Value.LookupPath(cue.MakePath(cue.Str("name"))).String()
		if err != nil {
			name = b.Name
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Varies reports whether the names of bundles may depend on the cluster or on values of the run: then a bundle that the files
// do not name this time may be there the next. What is no plain text depends on them where the files use any.
func (p *Program) Varies() bool {
	if p.plain != nil || len(p.attrs) == 0 && len(p.refs) == 0 {
		return false
	}
	return p.ask(Question{About: AboutVaries}).Varies
}

func (p *Program) varies() bool {
	root, err := p.build(p.files, nil, nil)
	return err != nil || slices.ContainsFunc(bundleValues(root), func(b bundleValue) bool {
		return !cuelang.Plain(b.Value.LookupPath(cue.MakePath(cue.Str("name"))))
	})
}

// bundleValue is one bundle of the evaluated files. Its name is the key in `bundles`, "" for `bundle`.
type bundleValue = cuelang.Member

func bundleValues(root cue.Value) []bundleValue {
	return cuelang.Members(root, rootBundle, rootBundles)
}
