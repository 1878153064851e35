package isolate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/render"
)

// Documents answers questions about documents in a child.
func (p *Pool) Documents() document.Elsewhere {
	return func(ctx context.Context, of document.Source, q document.Question) document.Answer {
		if q.About == "" {
			p.Warm()
			return document.Answer{}
		}
		a, err := p.ask(ctx, question{What: askDocument, Source: of, Document: q}, nil)
		if err == nil {
			err = a.err()
		}
		if err != nil {
			return document.Answer{Findings: diag.From(err, "evaluation")}
		}
		return a.Document
	}
}

// Renderers are the given ones in children. Those that are named digest what they read for their keys, and read nothing
// into it: that is done here.
func (p *Pool) Renderers(here map[string]render.Renderer, digesting ...string) map[string]render.Renderer {
	out := map[string]render.Renderer{}
	for name, r := range here {
		of := renderer{pool: p, name: name}
		if slices.Contains(digesting, name) {
			of.here = r
		}
		_, makes := r.(render.Maker)
		_, defaults := r.(render.Defaulter)
		switch {
		case makes && defaults:
			out[name] = maker{defaulter{of}}
		case defaults:
			out[name] = defaulter{of}
		default:
			out[name] = of
		}
	}
	return out
}

// renderer renders in a child.
type renderer struct {
	pool *Pool
	name string
	here render.Renderer // for its keys; nil has them made in a child
}

// defaulter is one whose sources have values of their own, and say of which kinds they are, maker one whose sources may also make values up.
type (
	defaulter struct{ renderer }
	maker     struct{ defaulter }
)

var (
	_ render.Renderer  = renderer{}
	_ render.Defaulter = defaulter{}
	_ render.Typer     = defaulter{}
	_ render.Maker     = maker{}
)

// Name is that of the renderer on the other side.
func (r renderer) Name() string { return r.name }

func (r renderer) ask(ctx context.Context, w what, req render.Request, path v1alpha1.Path) (answer, error) {
	return r.put(ctx, question{What: w, Renderer: r.name, Request: req, Path: path})
}

// put asks a question about a request.
func (r renderer) put(ctx context.Context, q question) (answer, error) {
	made := q.Request.Chance
	q.Request.Content.Reading = nil // the child reads by itself
	if q.Request.Chance = nil; made != nil {
		q.Chance = &made.ID
	}
	a, err := r.pool.ask(ctx, q, made)
	if err == nil {
		err = a.err()
	}
	return a, err
}

// Key is the memo key.
func (r renderer) Key(ctx context.Context, req render.Request) (string, error) {
	if r.here != nil {
		req.Content.Reading = nil // what a child reads is what is there when it renders
		return r.here.Key(ctx, req)
	}
	a, err := r.ask(ctx, askKey, req, nil)
	return a.Key, err
}

// Render renders in a child.
func (r renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	a, err := r.ask(ctx, askRender, req, nil)
	return a.Result, err
}

// Default is the source's own value at a path of its values.
func (r defaulter) Default(ctx context.Context, req render.Request, path v1alpha1.Path) (*v1alpha1.Value, diag.Pos) {
	a, _ := r.ask(ctx, askDefault, req, path)
	return a.Default, a.Pos
}

// Kinds are those that the source takes instead of texts; what cannot be told is told by the render.
func (r defaulter) Kinds(ctx context.Context, req render.Request, paths []v1alpha1.Path) [][]v1alpha1.Kind {
	q := question{What: askKinds, Renderer: r.name, Request: req, Paths: paths}
	a, err := r.put(ctx, q)
	if err != nil || len(a.Kinds) != len(paths) {
		return nil
	}
	return a.Kinds
}

// Makes reports whether the request's source may make something up. What cannot be told is told by the key.
func (r maker) Makes(ctx context.Context, req render.Request) bool {
	a, err := r.ask(ctx, askMakes, req, nil)
	return err == nil && a.Makes
}

// Checker judges by rules in children; the built-in ones, which are bounded, are asked here.
func (p *Pool) Checker(here health.Checker) health.Checker {
	return &checker{pool: p, here: here}
}

type checker struct {
	pool *Pool
	here health.Checker
	// given are the rules that ended a child, were given up, or were slow for some objects together, in whichever children: none is asked
	// again for the same cluster.
	given health.GivenUp
}

func (c *checker) ask(q question) (answer, error) {
	limit := c.pool.opts.CheckTime
	if err := c.given.Why(q.Rule, limit); err != nil {
		return answer{}, err
	}
	a, err := c.pool.ask(context.Background(), q, nil)
	given, answered := a.Leaving && a.Error != nil, err == nil
	if answered {
		err = a.err()
	} else if found := diag.From(err, "health-rule"); len(found) == 1 {
		given, err = true, errors.New(strings.TrimPrefix(found[0].What, q.title()+": "))
	}
	if given {
		c.given.Add(q.Rule, err)
	} else if answered {
		c.given.Done(q.Rule, a.Took, limit)
	}
	return a, err
}

// builtIn rules are in CEL: what a record calls one and is in CUE is none.
func builtIn(rule health.Check) bool { return rule.Layer == health.BuiltIn && rule.CEL != nil }

// Vet returns why a rule can never work.
func (c *checker) Vet(rule health.Check) error {
	if rule.CEL == nil || builtIn(rule) {
		return c.here.Vet(rule)
	}
	_, err := c.ask(question{What: askVet, Rule: rule})
	return err
}

// Check returns the verdict on an object.
func (c *checker) Check(rule health.Check, obj map[string]any) (health.Status, bool, error) {
	if builtIn(rule) {
		return c.here.Check(rule, obj)
	}
	a, err := c.ask(question{What: askCheck, Rule: rule, Object: obj})
	if a.Error == nil && err != nil {
		a.Applies = true
	}
	return a.Status, a.Applies, err
}
