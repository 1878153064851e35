// Package render turns content, facts and values into a Set: hermetic, deterministic, memoised. The leaves below it
// (cue, helm, kustomize, plain) each implement the Renderer socket.
//
// render must not know clusters, records or plans.
package render

import (
	"context"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
)

// Request is everything a render may depend on.
type Request struct {
	Bundle   string
	Instance v1alpha1.Instance
	// Content is the source's content; nothing but a Reading for local manifests (the renderer reads Instance.Manifests itself).
	Content module.Content
	// KubeVersion is the target's version, "1.36.3".
	KubeVersion string
	// APIs are the kinds the target serves (fleet.Facts.APIs); only some renderers read them.
	APIs []string
	// Package is the CUE package of the module ("main").
	Package string
	// Tags are extra tags, for example "debug".
	Tags []string
	// Tests asks for the objects that only test (Helm's test hooks) too.
	Tests bool
	// Answers are what was made up for the instance on this cluster before, and is kept.
	Answers chance.Answers
	// Chance makes what is not kept yet; nil lets placeholders stand there, which are the same every time.
	Chance *chance.Source
}

// Result is a rendered instance. Objects are in the module's order (stages in field order), unmarked.
type Result struct {
	Objects []object.Object
	Checks  []health.Check
	// Health are the source's own rules for kinds.
	Health   []v1alpha1.HealthRule
	Images   []string
	Version  string // module version
	Digest   string // content digest of the source
	Stages   []string
	Findings diag.Findings
	// Answers are the request's and the new ones, when Chance made some; else zero.
	Answers chance.Answers
	// Open is the number of calls that a placeholder answers and an object depends on. It counts also beside an error.
	Open int
	// LooksUp are Secrets that the source declares, and looks up to find what it made before.
	LooksUp []object.Ref
}

// Renderer is the socket for one kind of source.
type Renderer interface {
	// Name is the source field it serves: "module", "helm", "kustomize", "manifests".
	Name() string
	// Key is the memo key: a digest of every input the output may depend on, with the renderer's own version.
	Key(ctx context.Context, req Request) (string, error)
	// Render is hermetic and deterministic; errors are *diag.FindingsError with the user's positions.
	Render(ctx context.Context, req Request) (Result, error)
}

// CodePlaceholder is the code of findings about placeholders for values that are made up when the instance is applied,
// CodeMoment where all of them are times and numbers, which are no secrets.
const (
	CodePlaceholder = "placeholder"
	CodeMoment      = "placeholder-time"
)

// Maker is a Renderer whose sources may make values up: passwords, certificates, moments.
type Maker interface {
	Renderer
	// Makes reports whether the request's source may. Only then do Answers and Chance matter, and are part of the Key.
	Makes(ctx context.Context, req Request) bool
}
