package madeguard

import (
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testseed"
)

// TestFormer: going back does not put passwords from before a rotation in the place of those in use.
func TestFormer(t *testing.T) {
	const old, use = "old-password-of-app", "password-of-app-in-use"
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	secret := func(value string) map[object.Ref]object.Object {
		return map[object.Ref]object.Object{ref: {Body: map[string]any{"kind": "Secret", "data": map[string]any{"p": base64.StdEncoding.EncodeToString([]byte(value)), "u": "YWRtaW4="}}}}
	}
	env := func(items ...any) map[object.Ref]object.Object {
		return map[object.Ref]object.Object{ref: {Body: map[string]any{"kind": "Deployment", "env": items}}}
	}
	item := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	kept := map[string]chance.Answers{"app": {Calls: []chance.Call{{Func: chance.Generate, Value: use}}}}
	for name, c := range map[string]struct {
		action    plan.Action
		made      string
		now, then map[object.Ref]object.Object
		want      string // of the one finding: its severity
	}{
		"it was rotated since":               {plan.Update, "sha256:1", secret(use), secret(old), "error"},
		"only something else was made since": {plan.Update, "sha256:1", secret(use), secret(use), ""},
		"nothing was made since":             {plan.Update, kept["app"].Digest(), secret(use), secret(old), ""},
		"it goes":                            {plan.Delete, "sha256:1", secret(use), nil, ""},
		"it comes back":                      {plan.Create, "sha256:1", nil, secret(old), "warning"},
		"the field was not there then":       {plan.Update, "sha256:1", secret(use), map[object.Ref]object.Object{ref: {Body: map[string]any{"data": map[string]any{"u": "YQ=="}}}}, ""},
		"in a list, by name":                 {plan.Update, "sha256:1", env(item("x", "1"), item("p", use)), env(item("p", old)), "error"},
		"in a list, and it moved":            {plan.Update, "sha256:1", env(item("x", "1"), item("p", use)), env(item("p", use), item("x", "2")), ""},
		"in a list, and it is new":           {plan.Update, "sha256:1", env(item("p", use)), env(item("x", "2")), ""},
	} {
		p := &plan.Plan{Changes: []plan.Change{{Action: c.action, Ref: ref, Instance: "app"}}}
		got := ""
		for _, f := range Former(p, kept, Then{Made: map[string]string{"app": c.made}}, c.now, c.then) {
			got += string(f.Severity)
			if f.Fix == "" || f.Object != ref.String() {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestFormerRenamed: an instance that has another name by now has its values by the name of then, and what was rotated under the
// new name is in use.
func TestFormerRenamed(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	secret := func(value string) map[object.Ref]object.Object {
		return map[object.Ref]object.Object{ref: {Body: map[string]any{"kind": "Secret", "data": map[string]any{"p": base64.StdEncoding.EncodeToString([]byte(value))}}}}
	}
	answers := func(value string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: value}}}
	}
	const old, use = "old-password-of-web", "password-of-site-in-use"
	for name, c := range map[string]struct {
		kept  map[string]chance.Answers
		now   map[object.Ref]object.Object
		names string // of what is kept afterwards
		want  string // of the one finding: its severity
	}{
		"renamed":                         {map[string]chance.Answers{"site": answers(old)}, secret(old), "web", ""},
		"renamed, and the Secret is gone": {map[string]chance.Answers{"site": answers(old)}, nil, "web", ""},
		"renamed and rotated":             {map[string]chance.Answers{"site": answers(use)}, secret(use), "site", "error"},
		"renamed, rotated, and gone":      {map[string]chance.Answers{"site": answers(use)}, nil, "site", "warning"},
		"its own are there":               {map[string]chance.Answers{"site": answers(use), "web": answers(old)}, secret(old), "site web", ""},
	} {
		made := map[string]string{"web": answers(old).Digest()}
		p := &plan.Plan{Changes: []plan.Change{{Action: plan.Update, Ref: ref, Instance: "web"}}}
		renamed := Renamed(c.kept, Then{Made: made})
		if names := strings.Join(slices.Sorted(maps.Keys(renamed)), " "); names != c.names {
			t.Errorf("%s: kept is %s, want %s", name, names, c.names)
		}
		got := ""
		for _, f := range Former(p, renamed, Then{Made: made}, c.now, secret(old)) {
			got += string(f.Severity)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestFormerTakenBack: a Secret that another bundle has had, and which holds other made-up values by now, is not put back; what is
// kept here still tells which of its values those are.
func TestFormerTakenBack(t *testing.T) {
	const old = "old-password-of-web"
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	then := map[object.Ref]object.Object{ref: {Body: map[string]any{"kind": "Secret", "stringData": map[string]any{"pass.word": old, "user": "ada"}}}}
	kept := chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: old}}}
	for name, c := range map[string]struct {
		kept    chance.Answers
		made    string
		code    plan.Code
		field   string
		checked bool
		want    int
	}{
		"the password is another one":          {kept, kept.Digest(), plan.CodeMoved, `data."pass.word"`, true, 1},
		"it is adopted":                        {kept, kept.Digest(), plan.CodeAdopted, `data."pass.word"`, true, 1},
		"something else is another one":        {kept, kept.Digest(), plan.CodeMoved, "data.user", true, 0},
		"nothing changes":                      {kept, kept.Digest(), plan.CodeMoved, "metadata.labels.a", true, 0},
		"nobody could look":                    {kept, kept.Digest(), plan.CodeMoved, "", false, 1},
		"it is not kept any more":              {chance.Answers{}, "sha256:1", plan.CodeMoved, "data.user", true, 1},
		"its instance never had anything":      {kept, "", plan.CodeMoved, `data."pass.word"`, true, 0},
		"it was here all the time":             {kept, kept.Digest(), plan.CodeChanged, `data."pass.word"`, true, 0},
		"the other one has a value besides it": {kept, kept.Digest(), plan.CodeMoved, "data.more", true, 0},
	} {
		p := &plan.Plan{Changes: []plan.Change{{Action: plan.Adopt, Code: c.code, Ref: ref, Instance: "web", Checked: c.checked, Fields: []plan.FieldChange{{Path: c.field}},
			FromManagers: []string{object.Manager("0123456789abcdef0123")}}}}
		got := Former(p, map[string]chance.Answers{"web": c.kept}, Then{Made: map[string]string{"web": c.made}}, then, then)
		if len(got.Errors()) != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if TakesBack(p) != (c.code != plan.CodeChanged) {
			t.Errorf("%s: taken back: %t", name, TakesBack(p))
		}
	}
}

// TestFormerOfAnotherHash: a hash that may be of a former password is told from another one, whatever both begin with, also in base64: with a salt that
// begins with a slash, what stands before it was taken for a part that is found in every hash.
func TestFormerOfAnotherHash(t *testing.T) {
	const digits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	r := rand.New(rand.NewPCG(testseed.From(t), 1))
	entry := func(salt string) string {
		b := []byte(salt)
		for len(b) < 53 {
			b = append(b, digits[r.IntN(len(digits))])
		}
		return "ada:$2a$10$" + string(b)
	}
	for _, salt := range []string{"", "/", ".", "/.", "a/"} {
		for range 50 {
			was, now := entry(salt), entry(salt)
			s := since{doubtful: []chance.Text{{Value: was}}}
			for _, in := range []func(string) string{func(v string) string { return v }, func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }} {
				if s.outdated(in(now), in(was), finders{}) == "" || s.outdated(in(was), in(was), finders{}) != "" {
					t.Fatalf("%s was %s", in(now), in(was))
				}
			}
		}
	}
}
