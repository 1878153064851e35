package madeguard

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestKeep: what was made anew since stands where the former value did, whatever is around it; what is the same now, and what belongs to
// nobody, is left alone, and what is told names object, instance and release.
func TestKeep(t *testing.T) {
	const old, use = "old-password-of-app", "password-of-app-in-use"
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	made := func(value string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Line: "1", Value: value}}}
	}
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	of := func(text any) object.Object {
		return object.Object{Body: map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "login", "namespace": "ns"}, "field": text}}
	}
	then := Then{Made: map[string]string{"app": made(old).Digest()}, Marks: map[string][]chance.Mark{"app": made(old).Marks()}}
	later := []Later{{"2 (B)", then.Marks}, {"3 (C)", map[string][]chance.Mark{"app": made(use).Marks()}}, {"4 (D)", nil}}
	for name, c := range map[string]struct{ then, now, want any }{
		"of its own":             {old, use, use},
		"in a text":              {"a:" + old + "@one,b:" + old, "a:" + use + "@two", "a:" + use + "@one,b:" + use},
		"in base64":              {b64(old), b64(use), b64(use)},
		"in base64 in base64":    {b64(`{"auth": "` + b64("me:"+old) + `"}`), "", b64(`{"auth": "` + b64("me:"+use) + `"}`)},
		"in a list":              {[]any{"x", map[string]any{"name": "p", "value": old}}, []any{map[string]any{"name": "p", "value": use}}, []any{"x", map[string]any{"name": "p", "value": use}}},
		"the field is gone now":  {old, nil, use},
		"as it is now":           {old, old, old},
		"a part of it is no one": {old[1:], use, old[1:]},
		"something else":         {"given", use, "given"},
		"no text":                {int64(1), use, int64(1)},
	} {
		before := fmt.Sprint(c.then)
		out, said := Keep([]object.Object{of(c.then)}, map[string]chance.Answers{"app": made(use)}, then, map[object.Ref]object.Object{ref: of(c.now)}, later)
		got := c.then
		if len(out) > 0 {
			got = out[0].Body["field"]
			if text := fmt.Sprint(said); len(said) != 1 || said[0].Instance != "app" || !strings.Contains(text, ref.String()) || !strings.Contains(text, "in release 3 (C)") || strings.Contains(text, use) {
				t.Errorf("%s: %v", name, said)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || fmt.Sprint(c.then) != before {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFormerByEach: a plan is refused for a value that is gone alone, and not for others of its instance; a release of before values
// were noted is asked what its texts hold.
func TestFormerByEach(t *testing.T) {
	const old, use, more, second = "old-password-of-app", "password-of-app-in-use", "another-one-of-the-app", "kept-password-with-other-arguments"
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	of := func(text string) map[object.Ref]object.Object {
		return map[object.Ref]object.Object{ref: {Body: map[string]any{"kind": "Secret", "stringData": map[string]any{"p": text}}}}
	}
	made := func(values ...string) chance.Answers {
		out := chance.Answers{}
		for i, v := range values {
			out.Calls = append(out.Calls, chance.Call{Template: fmt.Sprint(i), Func: chance.Generate, Value: v})
		}
		return out
	}
	lost := chance.Answers{Calls: []chance.Call{{Template: "gone", Func: chance.Generate, Value: old}}}
	hashed := func(value string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Template: "h", Func: "htpasswd", Args: value, Value: value}}}
	}
	both := func(all ...chance.Answers) (out chance.Answers) {
		for _, a := range all {
			out.Calls = append(out.Calls, a.Calls...)
		}
		return out
	}
	for name, c := range map[string]struct {
		then, kept chance.Answers
		unmarked   bool
		was, is    string
		want       string // why
	}{
		"a text around it":                  {made(use), made(use, more), false, "a:" + use + "@one", "a:" + use + "@two", ""},
		"the same, without marks":           {made(use), made(use, more), true, "a:" + use + "@one", "a:" + use + "@two", ""},
		"another one that is kept":          {made(use), made(use, second), false, use, second, ""},
		"the same, not begun, no marks":     {made(second, use), made(use, second), true, use, second, ""},
		"something that was given":          {made(use), made(use, more), false, "given", more, ""},
		"gone, and nothing is in its place": {lost, made(use), false, old, use, "is not known"},
		"gone, and nothing kept displaced":  {lost, made(use), false, old, "given", ""},
		"gone, without marks":               {made(old), made(use), true, "a:" + old, "b:" + use, "before each made-up value was noted"},
		"one of two is, without marks":      {made(old, more), made(use, more), true, old + more, use + more, "before each made-up value was noted"},
		"made of what is gone, perhaps":     {both(lost, hashed("first-of-many-hashes")), both(made(use), hashed("first-of-many-hashes"), hashed("other-one-of-them-all")), false, "first-of-many-hashes", "other-one-of-them-all", "may not fit"},
	} {
		then := Then{Made: map[string]string{"app": c.then.Digest()}, Marks: map[string][]chance.Mark{"app": c.then.Marks()}}
		if c.unmarked {
			then.Marks = nil
		}
		p := &plan.Plan{Changes: []plan.Change{{Action: plan.Update, Ref: ref, Instance: "app"}}}
		got := Former(p, map[string]chance.Answers{"app": c.kept}, then, of(c.is), of(c.was))
		if c.want == "" && len(got) == 0 {
			continue
		}
		if c.want == "" || len(got) != 1 || !got.HasErrors() || !strings.Contains(got[0].Why, c.want) || got[0].Instance != "app" || got[0].Object != ref.String() || !strings.Contains(got[0].Fix, "--to") {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}
