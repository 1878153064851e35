package desired

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/valuerefs"
	"hawser.dev/hawser/internal/values"
)

// refersRig is a run in which another bundle writes the Secrets of the store vault first.
func refersRig(t *testing.T) *rig {
	r := newRig(t)
	r.Reader = values.New(values.Options{Redactor: r.Redactor,
		Fleet: &v1alpha1.FleetSpec{SecretStores: map[string]v1alpha1.SecretStore{"vault": {Kube: &v1alpha1.KubeStore{Namespace: "vault"}}}},
		Open: func(v1alpha1.SecretStore, values.Secrets) (secret.Store, error) {
			return nil, errors.New("it is read though a bundle writes it first")
		}})
	r.Before = func(context.Context) []valuerefs.Before {
		return []valuerefs.Before{{Bundle: "platform", Fate: func(object.Ref) plan.Action { return plan.Create }, References: func() valuerefs.References { return valuerefs.References{} }}}
	}
	return r
}

// after is what a plan says of an object of an instance, and the values that are open in it.
func (r *rig) after(s *State, instance string) (after, open []string, late *plan.Late) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: instance + "-ns", Name: instance}
	p := &plan.Plan{Changes: []plan.Change{{Ref: ref, Action: plan.Create, Instance: instance}}}
	r.References(s).Mark(p)
	return p.Changes[0].After, p.Changes[0].Late.Open, p.Changes[0].Late
}

// What stands in for a reference of another bundle's Secret says which one it is. Where a schema refuses that, the reference as it is written stands
// in for it, shown as not known all the same; where it takes neither, the error says what to do, and not that it wants a preview.
func TestReferenceOfABundle(t *testing.T) {
	url, user := regexp.MustCompile("^[a-z]+://"), "known after bundle platform (ref://vault:db/user)"
	refuses := func(takes func(uri string) bool) func(map[string]any) string {
		return func(data map[string]any) string {
			if uri, ok := data["uri"].(string); ok && !takes(uri) {
				return "uri does not match its pattern"
			}
			data["sum"] = object.DigestJSON(data)
			return ""
		}
	}
	for name, c := range map[string]struct {
		takes     func(string) bool
		uri, user string
		fix       string
	}{
		"anything": {func(string) bool { return true }, "known after bundle platform (ref://vault:db/uri)", user, ""},
		"a URI":    {url.MatchString, "ref://vault:db/uri", "ref://vault:db/user", ""},
		"a few":    {func(text string) bool { return slices.Contains([]string{"a", "b"}, text) }, "", "", "--bundle platform"},
	} {
		r := refersRig(t)
		r.renderer.refuses = refuses(c.takes)
		s, fs := r.state(r.instance("api", `{uri: "ref://vault:db/uri", user: "ref://vault:db/user", own: one}`))
		if c.fix != "" {
			if n := fs.Errors(); len(n) != 1 || !strings.Contains(n[0].Fix, c.fix) || strings.Contains(n[0].Fix, "preview") || !strings.Contains(n[0].Why, "known only after bundle platform") {
				t.Errorf("%s: %v", name, fs)
			}
			continue
		}
		if fs.HasErrors() || s.has("api", "uri") != c.uri || s.has("api", "user") != c.user || s.has("api", "own") != "one" || s.has("api", "sum") != "sha256:known after bundle platform" {
			t.Errorf("%s: %v, %v", name, s.Bodies, fs)
		}
		after, open, late := r.after(s, "api")
		if !slices.Equal(after, []string{"bundle platform"}) || !slices.Equal(open, []string{"uri", "user"}) || late.Values["uri"] != c.uri || !late.Object.Unknown["data.uri"] || late.Object.Unknown["data.own"] {
			t.Errorf("%s: after %q, open %q: %+v", name, after, open, late)
		}
		if key, err := s.Renders[0].Renderer.Key(context.Background(), s.Renders[0].Request); err != nil || s.Renders[0].Key != key+s.Renders[0].policy {
			t.Errorf("%s: the inputs digest is not that of what is rendered", name)
		}
	}
}

// A chart that takes such a value as a number, or as base64 of a text, has the same of every text that is neither: it is found out with a text that is both.
// What the value decides about besides is warned of, with what to do.
func TestReferenceTakenAsANumber(t *testing.T) {
	r := refersRig(t)
	r.renderer.refuses = func(data map[string]any) string {
		n, err := strconv.Atoi(data["port"].(string))
		plain, _ := base64.StdEncoding.DecodeString(data["text"].(string))
		data["n"], data["plain"] = strconv.Itoa(n), strings.ToValidUTF8(string(plain), "")
		if err == nil && n > 1024 && data["decides"] == true {
			data["high"] = "yes"
		}
		return ""
	}
	for _, decides := range []bool{false, true} {
		r.anew(nil)
		s, fs := r.state(r.instance("api", fmt.Sprintf(`{port: "ref://vault:db/port", text: "ref://vault:db/text", decides: %t}`, decides)))
		if fs.HasErrors() || s.has("api", "n") != "known after bundle platform" || s.has("api", "plain") != "known after bundle platform" {
			t.Errorf("%v, %v", s.Bodies, fs)
		}
		warned := slices.IndexFunc(fs, func(f diag.Finding) bool { return f.Code == bind.CodeDecides })
		if warned >= 0 != decides || decides && (!strings.Contains(fs[warned].What, "data.high of ConfigMap api") || !strings.Contains(fs[warned].Fix, "--bundle platform") || fs[warned].Instance != "api") {
			t.Errorf("decides %t: %v", decides, fs)
		}
		if n := len(r.renderer.rendered); n != 3 {
			t.Errorf("%d renders", n)
		}
	}
	r.anew(nil) // it is the same with what an instance gives
	s, fs := r.state(r.instance("db", "{port: one, text: two}"), r.instance("api", `{port: {from: {instance: db, object: v1/Secret/x, path: data.port}}, text: dHdv}`))
	if fs.HasErrors() || s.has("api", "n") != "known after db" || s.has("api", "plain") != "two" {
		t.Errorf("%v, %v", s.Bodies, fs)
	}
	r.Before = nil
	r.Reader = values.New(values.Options{Fleet: &v1alpha1.FleetSpec{SecretStores: map[string]v1alpha1.SecretStore{"vault": {Env: &v1alpha1.EnvStore{}}}},
		Open: func(v1alpha1.SecretStore, values.Secrets) (secret.Store, error) { return known{}, nil }})
	r.anew(nil)
	if _, fs := r.state(r.instance("api", `{port: "ref://vault:db/port", text: "ref://vault:db/text", decides: true}`)); len(fs) > 0 || len(r.renderer.rendered) != 1 {
		t.Errorf("%d renders of what is known, %v", len(r.renderer.rendered), fs)
	}
}

// Where a package takes no value but what stands in, a plan costs some renders and not one for each value: what stands in is seen, all else that may
// come of it is not, and that is said. One that is refused among many costs no more, and the others are found as ever.
func TestManyReferencesCostFewRenders(t *testing.T) {
	const many = 300
	for name, c := range map[string]struct {
		refuses      func(data map[string]any) bool
		known, warns bool // known: what is computed of a value is told
	}{
		"all are taken":  {func(map[string]any) bool { return false }, true, false},
		"all refused":    {func(data map[string]any) bool { return !allStand(data) }, false, true},
		"one is refused": {func(data map[string]any) bool { return !strings.HasPrefix(fmt.Sprint(data["v7"]), "known") }, true, false},
	} {
		r := refersRig(t)
		r.renderer.refuses = func(data map[string]any) string {
			if c.refuses(data) {
				return "it does not match its pattern"
			}
			data["sum"] = object.DigestJSON(data["v299"])
			return ""
		}
		var given []string
		for i := range many {
			given = append(given, fmt.Sprintf(`v%d: "ref://vault:db/v%[1]d"`, i))
		}
		s, fs := r.state(r.instance("api", "{"+strings.Join(given, ", ")+"}"))
		if n := len(r.renderer.rendered); n > 40 || fs.HasErrors() {
			t.Errorf("%s: %d renders, %v", name, n, fs)
		}
		_, _, late := r.after(s, "api")
		if open := late.Object.Unknown; !open["data.v7"] || !open["data.v299"] || open["data.sum"] != c.known {
			t.Errorf("%s: of %d values, sum %v", name, len(open), open["data.sum"])
		}
		warned := slices.IndexFunc(fs, func(f diag.Finding) bool { return f.Code == bind.CodeUntried })
		if warned >= 0 != c.warns || c.warns && (fs[warned].Instance != "api" || !strings.Contains(fs[warned].Fix, "--bundle platform")) {
			t.Errorf("%s: warned %v", name, warned >= 0)
		}
	}
}

// allStand reports whether all values are what stands in for them.
func allStand(data map[string]any) bool {
	for key, v := range data {
		if strings.HasPrefix(key, "v") && !strings.HasPrefix(fmt.Sprint(v), "known") {
			return false
		}
	}
	return true
}

// known is a store that holds everything.
type known struct{}

func (known) Get(context.Context, secret.Ref) (string, error) { return "1400", nil }
