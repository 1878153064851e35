package document

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/advice"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/lineage"
)

// classify decides what the files are together: bundles, a fleet, or plain manifests.
func (p *Program) classify(fleetFiles []*source) diag.Findings {
	fs := p.checkRoots(fleetFiles)
	fs = append(fs, p.checkFleetRoots(fleetFiles)...)
	fs = append(fs, p.checkBundleNames()...)
	return append(fs, p.checkManifests()...)
}

// checkRoots finds unknown top-level fields of YAML and JSON documents. What a CUE file of the load declares is known.
func (p *Program) checkRoots(fleetFiles []*source) diag.Findings {
	declared := map[string]bool{}
	for _, s := range p.all {
		for name := range s.cueNames {
			declared[name] = true
		}
	}
	var fs diag.Findings
	for _, s := range p.all {
		for _, d := range s.docs {
			if d.manifest {
				if !slices.Contains(p.files, s) && slices.Contains(fleetFiles, s) {
					n := diag.Errorf("not-a-fleet", "a Kubernetes manifest is no fleet")
					n.Pos = d.pos
					fs = append(fs, n)
				}
				continue
			}
			fields, _ := cuelang.Fields(d.tree)
			known := func(f cuelang.Field) bool { return slices.Contains(roots, f.Name) || declared[f.Name] }
			if len(fields) > 1 && !slices.ContainsFunc(fields, known) && !slices.ContainsFunc(fields, nearRoot) {
				fs = append(fs, noRoot(fields))
				continue
			}
			for _, f := range fields {
				switch {
				case f.Name == rootResources:
					n := diag.Errorf("not-available", "resources are not available in this version")
					n.Pos, n.Path = cuelang.Pos(f.Pos), f.Name
					fs = append(fs, n)
				case !slices.Contains(roots, f.Name) && !declared[f.Name]:
					fs = append(fs, advice.For(diag.UnknownField(f.Name, f.Name, cuelang.Pos(f.Pos), roots[:4])))
				}
			}
		}
		if label, ok := s.cueNames[rootResources]; ok {
			n := diag.Errorf("not-available", "resources are not available in this version")
			n.Pos, n.Path = cuelang.Pos(label.Pos()), rootResources
			fs = append(fs, n)
		}
	}
	return fs
}

// noRoot is the one finding about a document that has none of our roots, with what it looks like.
func noRoot(fields []cuelang.Field) diag.Finding {
	names := map[string]bool{}
	var near *cuelang.Field
	for _, f := range fields {
		names[f.Name] = true
		if !slices.Contains(objectFields, f.Name) && diag.Nearest(f.Name, objectFields) != "" {
			near = &f
		}
	}
	if near != nil && names["metadata"] && names["spec"] {
		return diag.UnknownField(near.Name, near.Name, cuelang.Pos(near.Pos), objectFields)
	}
	n := diag.Errorf("unknown-field", "no bundle and no fleet: the file has neither bundle, bundles, fleet nor runtime")
	n.Pos, n.Path = cuelang.Pos(fields[0].Pos), fields[0].Name
	switch {
	case names["instances"]:
		n.What, n.Fix = "the fields of a bundle stand at the top", "indent them under bundle:"
	case names["clusters"]:
		n.What, n.Fix = "the fields of a fleet stand at the top", "indent them under fleet:"
	default:
		n.Why = "it looks like the values of a chart"
		n.Fix = "name it in a bundle: instances: {NAME: {helm: {chart: ...}, namespace: ..., values: {from: {file: " + fields[0].Pos.Filename() + "}}}}"
	}
	return n
}

// nearRoot reports a misspelled root.
func nearRoot(f cuelang.Field) bool { return diag.Nearest(f.Name, roots) != "" }

// rootAt is where a source declares a root.
func (s *source) rootAt(root string) (diag.Pos, bool) {
	if label, ok := s.cueNames[root]; ok {
		return cuelang.Pos(label.Pos()), true
	}
	for _, d := range s.docs {
		fields, _ := cuelang.Fields(d.tree)
		for _, f := range fields {
			if f.Name == root && !d.manifest {
				return cuelang.Pos(f.Pos), true
			}
		}
	}
	return diag.Pos{}, false
}

// checkFleetRoots refuses `fleet` and `runtime` in one run, and a second fleet beside that of --fleet.
func (p *Program) checkFleetRoots(fleetFiles []*source) diag.Findings {
	var fleet, runtime, other diag.Pos
	for _, s := range p.all {
		at, ok := s.rootAt(rootFleet)
		rt, isRuntime := s.rootAt(rootRuntime)
		if !slices.Contains(fleetFiles, s) {
			if ok {
				other = at
			} else if isRuntime {
				other = rt
			}
			continue
		}
		if ok && !fleet.IsValid() {
			fleet = at
		}
		if isRuntime && !runtime.IsValid() {
			runtime = rt
		}
	}
	switch {
	case fleet.IsValid() && runtime.IsValid():
		n := diag.Errorf("two-fleets", "fleet (%s) and runtime (%s) in one run", fleet.File, runtime.File)
		n.Pos, n.Fix = runtime, "keep one of them: they mean the same"
		return diag.Findings{n}
	case other.IsValid() && (fleet.IsValid() || runtime.IsValid()):
		first := fleet
		if !first.IsValid() {
			first = runtime
		}
		n := diag.Errorf("two-fleets", "two fleets in one run: %s and %s", first.File, other.File)
		n.Pos, n.Fix = other, "give one of them with --fleet, or leave --fleet out"
		return diag.Findings{n}
	}
	return nil
}

func (p *Program) checkBundleNames() diag.Findings {
	first := map[string]diag.Pos{}
	var fs diag.Findings
	for _, s := range p.files {
		for _, d := range s.docs {
			if d.bundle == "" {
				continue
			}
			if at, twice := first[d.bundle]; twice {
				n := diag.Errorf("duplicate-name", "bundle %q is declared twice", d.bundle)
				n.Pos, n.Why = d.pos, "first at "+at.String()
				fs = append(fs, n)
				continue
			}
			first[d.bundle] = d.pos
		}
	}
	return fs
}

// saysBundle reports whether a source may declare bundles: CUE may say them by an embedded value, so that any CUE file
// that is not merely a fleet counts.
func (s *source) saysBundle() bool {
	if s.syntax == syntaxCUE {
		for name := range s.cueNames {
			if name != rootFleet && name != rootRuntime {
				return true
			}
		}
		return false
	}
	return s.says(rootBundle) || s.says(rootBundles)
}

// saysWhatRuns reports whether a source may declare bundles, or is a manifest, or something that is neither: not merely a fleet.
func (s *source) saysWhatRuns() bool {
	if s.saysBundle() || s.syntax == syntaxCUE && len(s.cueNames) == 0 {
		return true
	}
	return slices.ContainsFunc(s.docs, func(d *document) bool {
		fields, _ := cuelang.Fields(d.tree)
		return d.manifest || !slices.ContainsFunc(fields, func(f cuelang.Field) bool { return f.Name == rootFleet || f.Name == rootRuntime })
	})
}

func (s *source) says(root string) bool {
	_, ok := s.rootAt(root)
	return ok
}

// checkManifests makes a bundle of plain manifests, or refuses manifests beside a bundle.
func (p *Program) checkManifests() diag.Findings {
	bundle, manifests := "", []*source(nil)
	for _, s := range p.files {
		if s.saysBundle() && bundle == "" {
			bundle = s.name
		}
		if slices.ContainsFunc(s.docs, func(d *document) bool { return d.manifest }) {
			manifests = append(manifests, s)
		}
	}
	if len(manifests) == 0 {
		return nil
	}
	var fs diag.Findings
	refuse := func(s *source, code, what, fix string) {
		i := slices.IndexFunc(s.docs, func(d *document) bool { return d.manifest })
		n := diag.Errorf(code, "%s", what)
		n.Pos, n.Fix = s.docs[i].pos, fix
		fs = append(fs, n)
	}
	for _, s := range manifests {
		switch {
		case bundle != "":
			refuse(s, "manifest-beside-bundle", "a Kubernetes manifest beside the bundle of "+bundle,
				"name it in an instance: manifests: {paths: [...]}")
		case slices.ContainsFunc(s.docs, func(d *document) bool { return !d.manifest }):
			refuse(s, "manifest-beside-fleet", "a Kubernetes manifest and a fleet in one file", "put the fleet into a file of its own")
		case s.name == stdinName:
			refuse(s, "manifest-from-stdin", "plain manifests cannot be read from standard input",
				"give their file or directory with -f")
		}
	}
	if fs != nil {
		return fs
	}
	return p.makePlain(manifests)
}

// nameRule is the rule for names of bundles, instances and clusters.
var nameRule = lazyregexp.New(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

// makePlain is the bundle of one instance for plain manifests.
func (p *Program) makePlain(manifests []*source) diag.Findings {
	var paths, except []string
	for _, s := range p.all {
		if !slices.Contains(manifests, s) {
			except = append(except, s.abs)
		}
	}
	dir := filepath.Dir(manifests[0].abs)
	for i, s := range manifests {
		path := s.abs
		if s.from != "" {
			// The directory itself is the source, with everything below it.
			path, _ = filepath.Abs(s.from) // as that of s itself, which is known
			if i == 0 {
				dir = path
			}
		}
		// As seen from the first one, and not from where a command is run.
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = filepath.ToSlash(rel)
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if ns := p.opts.Namespace; ns != "" && len(validation.IsDNS1123Label(ns)) > 0 {
		return diag.Findings{advice.For(diag.Errorf("invalid-name", "%q cannot be the name of a namespace", ns))}
	}
	p.former = strings.ToLower(filepath.Base(dir))
	name := p.opts.Name
	if name == "" {
		name = lineage.BundleName(p.opts.Namespace, cmp.Or(p.opts.Place, p.former))
	}
	if !nameRule.MatchString(name) {
		n := diag.Errorf("invalid-name", "%q cannot be the name of a bundle: lower-case letters, digits, '-', '_' and '.' only", name)
		n.Fix = "give one with --name"
		return diag.Findings{n}
	}
	at := v1alpha1.Position{File: manifests[0].name, Line: 1, Column: 1}
	p.plain = &v1alpha1.BundleSpec{
		APIVersion: v1alpha1.ShortAPIVersion,
		Name:       name,
		Instances: []v1alpha1.Instance{{
			Name:      "manifests",
			Namespace: p.opts.Namespace,
			Manifests: &v1alpha1.ManifestsSource{Paths: paths, Dir: dir, Given: true, Except: except, Pos: at},
			Pos:       at,
		}},
	}
	return nil
}

// trees are the documents of a source that are ours.
func (s *source) trees() []*ast.StructLit {
	var out []*ast.StructLit
	for _, d := range s.docs {
		if !d.manifest {
			out = append(out, d.tree)
		}
	}
	return out
}
