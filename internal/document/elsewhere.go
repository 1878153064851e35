package document

import (
	"bytes"
	"context"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Elsewhere answers a question about the files of a Program in another process, where an evaluation that never ends hurts
// nobody. What it cannot answer has findings.
type Elsewhere func(ctx context.Context, of Source, q Question) Answer

// Source is what a Program was loaded from: with Stdin for what "-" stood for, and the digest of the files as they were read.
type Source struct {
	Options Options
	Stdin   []byte
	Digest  string
}

// Question is about what only an evaluation tells.
type Question struct {
	About About
	Facts fleet.Facts
	// Query is evaluated over Object.
	Query  v1alpha1.RuntimeQuery
	Object map[string]any
}

// About is what a question is about.
type About string

// What can be asked: nothing, by somebody who is about to ask; the fleet, the bundles for a cluster, their value as text, their names, whether those vary, what the files
// import, and the values of a query.
const (
	AboutFleet   About = "fleet"
	AboutBundles About = "bundles"
	AboutValue   About = "value"
	AboutNames   About = "names"
	AboutVaries  About = "varies"
	AboutImports About = "imports"
	AboutQuery   About = "query"
)

// Answer holds what the question is about.
type Answer struct {
	Fleet    *v1alpha1.FleetSpec
	Specs    []v1alpha1.BundleSpec
	Text     string
	Names    []string
	Varies   bool
	Files    []File
	Values   map[string]fleet.Value
	Findings diag.Findings
}

// Title says for people what is evaluated.
func (q Question) Title() string {
	switch q.About {
	case AboutFleet:
		return "the fleet"
	case AboutNames, AboutVaries:
		return "the bundles' names"
	case AboutImports:
		return "what the files import"
	case AboutQuery:
		return "the query " + q.Query.Query
	}
	return "the bundle for cluster " + q.Facts.Name
}

// Answer answers the question here, watched by the Watchdog.
func (p *Program) Answer(q Question) (a Answer) {
	defer p.opts.Watchdog.Enter(q.Title())()
	switch q.About {
	case AboutFleet:
		a.Fleet, a.Findings = p.fleet, p.fleetFindings
	case AboutBundles:
		a.Specs, a.Findings = p.evaluate(q.Facts)
	case AboutValue:
		a.Text, a.Findings = p.valueText(q.Facts)
	case AboutNames:
		a.Names = p.names()
	case AboutVaries:
		a.Varies = p.varies()
	case AboutImports:
		a.Files = p.imported()
	case AboutQuery:
		a.Values, a.Findings = fleet.EvaluateQuery(q.Query, q.Object)
	}
	return a
}

// ask has the question answered: elsewhere where there is such a place, and the files compute something.
func (p *Program) ask(q Question) Answer {
	if p.elsewhere == nil || q.About != AboutQuery && !slices.ContainsFunc(p.files, (*source).computes) {
		return p.Answer(q)
	}
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	if lost.HasErrors() && q.About != AboutQuery {
		return Answer{Findings: lost}
	}
	a := p.elsewhere(q)
	if q.About == AboutNames || q.About == AboutVaries { // what ends without a cluster's values ends with them
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lost = a.Findings
	}
	return a
}

// asksSoon reports whether something of the source is likely to be asked elsewhere in every run: what it computes, or the key of
// a chart or a kustomization.
func (s *source) asksSoon() bool {
	return s.computes() || bytes.Contains(s.data, []byte("helm")) || bytes.Contains(s.data, []byte("kustomize"))
}

// computes reports whether an evaluation of the source is more than reading data.
func (s *source) computes() bool { return s.syntax == syntaxCUE }

// Query evaluates a query of the fleet over the object that it names.
func (p *Program) Query(q v1alpha1.RuntimeQuery, obj map[string]any) (map[string]fleet.Value, diag.Findings) {
	a := p.ask(Question{About: AboutQuery, Query: q, Object: obj})
	return a.Values, a.Findings
}

// Source is what the Program was loaded from.
func (p *Program) Source() Source {
	out := Source{Options: p.opts}
	out.Options.Stdin, out.Options.Watchdog, out.Options.Elsewhere = nil, nil, nil
	var all []byte
	for _, s := range p.all {
		all = append(all, digestOf(s.data)...)
		if s.name == stdinName {
			out.Stdin = bytes.Clone(s.data)
		}
	}
	out.Digest = digestOf(all)
	return out
}
