package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/dag"
)

// brokenEnv makes the process break where an engine is made, and says in which goroutine.
const brokenEnv = "HAWSER_TEST_BROKEN"

// breaks has the process panic with a text that holds a secret.
func breaks(where, secret string) {
	panics := func() { panic(fmt.Sprintf("cannot handle %q", secret)) }
	switch where {
	case "in the command":
		storage = func() *cache.Cache { panics(); return nil }
	case "on a cluster":
		storage = func() *cache.Cache { dag.Each(3, 2, func(int) { panics() }); return nil }
	case "in a step":
		storage = func() *cache.Cache {
			var g dag.Graph[int]
			g.Add(1)
			w, err := g.Walk()
			if err == nil {
				w.Pass(context.Background(), nil, 1, func(context.Context, int) error { panics(); return nil })
			}
			return nil
		}
	}
}

// TestCanariesInPanics: a mistake of ours that panics with a secret ends the process as a crash does, and says where, and nothing of the secret.
func TestCanariesInPanics(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"in the command", "on a cluster", "in a step"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			secret := round(1).env
			b.env = append(b.env, brokenEnv+"="+where, "APP_ENV="+secret)
			b.write("b.yaml", "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {manifests: {paths: [m]}, namespace: n}}}\n")
			for _, args := range [][]string{{"vet", "-f", "b.yaml"}, {"plan", "-f", "b.yaml", "-o", "json"}, {"lock", "-f", "b.yaml"}} {
				r := b.run(args...)
				if want := map[bool]int{true: 2, false: -1}[runtime.GOOS == "windows"]; r.Code != want || r.Stdout != "" {
					t.Errorf("%s: %s", args, r)
				}
				silent(t, strings.Join(args, " "), r.Stdout+r.Stderr, round(1))
				for _, said := range []string{"it panicked with a string at", "hawser.dev/hawser/cmd/hawser.breaks.func", "goroutine "} {
					if !strings.Contains(r.Stderr, said) {
						t.Errorf("%s: %q is not in %s", args, said, r)
					}
				}
			}
		})
	}
}
