package object

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSecretKeys: keys of entries that are secret are marked by their place, in Secrets, too; their own paths and those of what stands
// under them do not name them, and what is found again is what was marked.
func TestSecretKeys(t *testing.T) {
	const canary, other = "Zq7canaryAbx9Kd", "Zr8canaryAbx9Kd"
	key := func(s string) bool { return strings.Contains(s, "canary") }
	known := func(s string) string { return strings.ReplaceAll(s, "canary", "***") }
	for name, c := range map[string]struct {
		body         map[string]any
		want, values []string
	}{
		"a ConfigMap": {map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "x", canary: "inkey", "app-" + other: "y" + other}},
			[]string{"data[2]", "data[=0]", "data[=2]"}, []string{"y" + other}},
		"a Secret": {map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{canary: "aW5rZXk=", "b": "eA=="}}, []string{"data[=0]"}, nil},
		"deep": {map[string]any{"apiVersion": "x/v1", "kind": "App", "spec": map[string]any{"list": []any{map[string]any{"name": "n", "env": map[string]any{"a": "1", canary: map[string]any{"v": other}}}}}},
			[]string{`spec.list[name="n"].env[0].v`, `spec.list[name="n"].env[=0]`}, []string{other}},
		"none": {map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"3": "x"}}, nil, nil},
	} {
		o := Object{Body: c.body}.MarkSecrets(known, known, key)
		slices.Sort(o.Sensitive)
		if slices.Sort(c.want); !slices.Equal(o.Sensitive, c.want) {
			t.Errorf("%s: %q, want %q", name, o.Sensitive, c.want)
		}
		for _, o := range []Object{o, o.Claimed()} {
			want := 0
			for _, path := range c.want {
				want += strings.Count(path, "[=")
			}
			if got := o.SensitiveKeys(); len(got) != want || slices.ContainsFunc(got, func(k string) bool { return !key(k) }) {
				t.Errorf("%s: keys %q", name, got)
			}
			if got := o.SensitiveValues(); !slices.Equal(got, c.values) {
				t.Errorf("%s: values %q, want %q", name, got, c.values)
			}
		}
		if strings.Contains(fmt.Sprint(o.Sensitive), "canary") || o.Secret() != (len(c.want) > 0 || o.Ref().IsSecret()) {
			t.Errorf("%s: %q", name, o.Sensitive)
		}
	}
}

// TestSecretKeysInAnotherVersion: what stands under a secret key is hidden under any key of the other version, as nobody knows which
// it was; what stands beside a key alone that is secret is shown.
func TestSecretKeysInAnotherVersion(t *testing.T) {
	body := func(data map[string]any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}
	}
	secret := func(s string) bool { return strings.HasPrefix(s, "new") }
	hide := func(string) string { return "***" }
	for _, c := range []struct {
		old, now map[string]any
		hidden   bool
	}{
		{map[string]any{"old": "x"}, map[string]any{"new": "x"}, false},
		{map[string]any{"old": "old"}, map[string]any{"new": "new"}, true},
	} {
		o := Object{Body: body(c.now)}.MarkSecrets(hide, hide, secret)
		o.Sensitive = slices.Concat(keyPaths(o.Body, secret, secret))
		if c.hidden {
			o.Sensitive = append(o.Sensitive, valuePaths(o.Body, func(_ []trailStep, text string) bool { return secret(text) }, secret, secret)...)
		}
		for _, d := range Diff(body(c.old), o.Body, o.Mask()) {
			if d.Hidden != c.hidden {
				t.Errorf("%s: hidden %t", d.Path, d.Hidden)
			}
		}
	}
}

// TestForgedKeys: what a record says of keys is read within its body, hides nothing at places that are never secret, and never fails.
func TestForgedKeys(t *testing.T) {
	o := Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"labels": map[string]any{"app": "x"}}, "data": map[string]any{"a": "x"}},
		Sensitive: []string{"data[=7]", "data[=-1]", "data[=", "data[=x]", "[=0]", "metadata.labels[=0]", "data[=0].x", "data[9]", "data[=0]]"}}
	if got := o.Claimed(); len(got.Sensitive) != 0 || len(o.SensitiveValues()) != 0 {
		t.Errorf("%q", got.Sensitive)
	}
	if got := o.SensitiveKeys(); !slices.Equal(got, []string{"app"}) {
		t.Errorf("%q", got)
	}
}
