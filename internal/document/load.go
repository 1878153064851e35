package document

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/cuemod"
	"hawser.dev/hawser/internal/diag"
)

// Options say what is loaded.
type Options struct {
	// Files hold the bundles (and, when Fleet is empty, the fleet): files, directories, "-" for Stdin, each entry also
	// a comma separated list. The order counts for Digest only.
	Files []string
	// Fleet holds the fleet or runtime, in the same forms.
	Fleet []string
	// Stdin is what "-" stands for.
	Stdin io.Reader
	// Workdir is where relative imports and @embed start (the directory with cue.mod, or one below); "" is the current
	// directory.
	Workdir string
	// Package is accepted for compatibility: files are read whatever their package clause says.
	Package string
	// Name names the bundle made of plain manifests; "" makes a name of Namespace and Place.
	Name string
	// Place is the path of the files' directory in its repository; "" takes the directory's own name.
	Place string
	// Namespace is that of the bundle made of plain manifests: where objects without one of their own go.
	Namespace string
	// FleetOnly leaves the bundles alone: only the fleet is checked and evaluated.
	FleetOnly bool
	// Limits bound what is read; zero fields mean the defaults.
	Limits cuelang.Limits
	// Watchdog watches evaluations; nil watches nothing.
	Watchdog *cuelang.Watchdog
	// Elsewhere is where files that compute something are evaluated; nil evaluates all of them here.
	Elsewhere Elsewhere
}

// Program is a loaded set of files. Its methods may be called concurrently.
type Program struct {
	opts  Options
	cwd   string
	files []*source // what bundles are read from
	all   []*source // files and those of the fleet, each once, in order

	// module is the CUE module of the working directory.
	module *cuemod.Module
	attrs  []Attribute
	refs   []clusterRef
	// versionUsed tells that an expression may read the version in a struct of @hawser(cluster).
	versionUsed bool
	fleet       *v1alpha1.FleetSpec
	// plain is set when the files are plain manifests.
	plain *v1alpha1.BundleSpec
	// former is the name of the directory that plain manifests are in.
	former string

	mu   sync.Mutex
	memo map[string]*evaluation
	// elsewhere answers questions in another process, nil for none; lost is why it could not.
	elsewhere     func(Question) Answer
	lost          diag.Findings
	fleetFindings diag.Findings
}

// Load reads and checks the files and evaluates the fleet. The findings' positions are relative to the current
// directory for files below it. The Program is nil when a file cannot be read or parsed; other errors leave a Program
// that shows what could be understood.
func Load(ctx context.Context, opts Options) (*Program, diag.Findings) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, diag.Findings{diag.Errorf("unreadable", "the current directory: %v", err)}
	}
	opts.Limits = opts.Limits.WithDefaults()
	p := &Program{opts: opts, cwd: cwd, memo: map[string]*evaluation{}}
	if opts.Elsewhere != nil {
		p.elsewhere = func(q Question) Answer { return opts.Elsewhere(ctx, p.Source(), q) }
	}
	fs := p.findModule()
	if fs.HasErrors() {
		return nil, fs
	}
	r := &reader{cwd: cwd, stdin: opts.Stdin, limits: opts.Limits, seen: map[string]*source{}}
	defer r.files.Close()
	p.files = r.read(ctx, opts.Files)
	r.fleet = true
	fleetFiles := r.read(ctx, opts.Fleet)
	p.all = r.all
	if r.findings.HasErrors() {
		return nil, append(fs, r.findings...).Sorted()
	}
	fs = append(fs, r.findings...)
	parsed := opts.Watchdog.Enter("the files")
	fs = append(fs, p.parse(p.all)...)
	if !opts.FleetOnly && !fs.HasErrors() {
		more := r.readBelow(ctx, opts.Files, p.files)
		p.files, p.all = append(p.files, more...), r.all
		fs = slices.Concat(fs, r.findings.Errors(), p.parse(more))
	}
	parsed()
	if fs.HasErrors() {
		return nil, fs.Sorted()
	}
	if p.elsewhere != nil && slices.ContainsFunc(p.all, (*source).asksSoon) {
		p.elsewhere(Question{})
	}
	if len(opts.Fleet) == 0 {
		fleetFiles = p.files
	}
	fs = append(fs, p.classify(fleetFiles)...)
	if !opts.FleetOnly {
		fs = append(fs, p.listAttributes()...)
		fs = append(fs, p.listRefs()...)
	}
	if ctx.Err() != nil {
		return nil, append(fs, diag.Errorf("interrupted", "%v", ctx.Err()))
	}
	if opts.Namespace != "" && p.plain == nil && !fs.HasErrors() {
		n := diag.Errorf("namespace-of-bundle", "a namespace is given, but the files are no plain manifests")
		n.Fix = "say it in the bundle: instances.NAME.namespace"
		fs = append(fs, n)
	}
	p.fleetFindings = p.loadFleet(fleetFiles)
	return p, append(fs, p.fleetFindings...).Sorted()
}

// findModule looks for cue.mod in the working directory and above.
func (p *Program) findModule() diag.Findings {
	dir := p.opts.Workdir
	if dir == "" {
		dir = p.cwd
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(abs); err == nil && !info.IsDir() {
			return diag.Findings{diag.Errorf("invalid-workdir", "invalid workdir %s: not a directory", dir)}
		}
	}
	if err != nil {
		return diag.Findings{diag.Errorf("invalid-workdir", "invalid workdir %s: it does not exist", dir)}
	}
	if p.module, err = cuemod.Find(abs, p.opts.Limits); err != nil {
		n := diag.Errorf("unreadable", "file cannot be read")
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			n.Pos, err = diag.Pos{File: display(p.cwd, pe.Path)}, pe.Err
		}
		n.Why = err.Error()
		return diag.Findings{n}
	}
	p.module.Show = func(path string) string { return display(p.cwd, path) }
	return nil
}

// Fleet is the fleet the files declare, nil when they declare none. It must not be changed.
func (p *Program) Fleet() *v1alpha1.FleetSpec { return p.fleet }

// Plain reports whether the program is made of plain manifests, without any bundle.
func (p *Program) Plain() bool { return p.plain != nil }

// FormerName is the name that a bundle made of plain manifests had when names were made of the directory alone, "" when
// the name is given, or the same.
func (p *Program) FormerName() string {
	if p.plain == nil || p.opts.Name != "" || p.plain.Name == p.former {
		return ""
	}
	return p.former
}

// Rename gives the bundle of plain manifests another name. Nothing else may use the program meanwhile.
func (p *Program) Rename(name string) {
	plain := *p.plain
	plain.Name = name
	p.plain = &plain
}

// UsesQueries reports whether the fleet reads runtime values from the clusters.
func (p *Program) UsesQueries() bool { return p.fleet != nil && len(p.fleet.Values) > 0 }

// Uses reports whether the bundles read the runtime value of that name: by an attribute of CUE, or by {$cluster: values.X},
// {$cluster: values} included. It is the one rule for what is hidden, recorded and part of a revision.
func (p *Program) Uses(name string) bool {
	for _, a := range p.attrs {
		if !a.Cluster() && a.Var == name {
			return true
		}
	}
	for _, r := range p.refs {
		if runtimeName(r.path) == name || len(r.path) == 1 && r.path[0].Name == "values" {
			return true
		}
	}
	return false
}

// Fact is the {$cluster: PATH} at a position, "" when there is none.
func (p *Program) Fact(at diag.Pos) string {
	for _, r := range p.refs {
		if r.pos == at || r.label == at {
			return "{" + refKey + ": " + r.path.String() + "}"
		}
	}
	return ""
}
