package document

import (
	"sync"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
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
		defer p.opts.Watchdog.Enter("the bundle for cluster " + f.Name)()
		e.specs, e.findings = p.evaluate(f)
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
		d := &decoder{p: p, in: in}
		specs = append(specs, d.bundle(b.value, b.name))
		fs = append(fs, d.findings...)
		fs = append(fs, d.dropped(fs)...)
	}
	fs = append(fs, checkLoad(specs, found, &decoder{p: p, in: in})...)
	return specs, fs.Sorted()
}

// Bundles lists the names of the bundles as far as they do not depend on the cluster: for verbs that look at what is
// installed and need no values.
func (p *Program) Bundles() []string {
	if p.plain != nil {
		return []string{p.plain.Name}
	}
	defer p.opts.Watchdog.Enter("the bundles' names")()
	root, err := p.build(p.files, nil, nil)
	if err != nil {
		return nil
	}
	var out []string
	for _, b := range bundleValues(root) {
		name, err := b.value.LookupPath(cue.MakePath(cue.Str("name"))).String()
		if err != nil {
			name = b.name
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// bundleValue is one bundle of the evaluated files.
type bundleValue struct {
	// name is the key in `bundles`, "" for `bundle`.
	name  string
	value cue.Value
}

func bundleValues(root cue.Value) []bundleValue {
	var out []bundleValue
	if v := root.LookupPath(cue.MakePath(cue.Str(rootBundle))); v.Exists() {
		out = append(out, bundleValue{value: v})
	}
	if v := root.LookupPath(cue.MakePath(cue.Str(rootBundles))); v.Exists() {
		if it, err := v.Fields(); err == nil {
			for it.Next() {
				out = append(out, bundleValue{name: it.Selector().Unquoted(), value: it.Value()})
			}
		}
	}
	return out
}
