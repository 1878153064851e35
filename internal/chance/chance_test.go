package chance_test

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/chance"
)

func call(template, fn, args, line, value string) chance.Call {
	return chance.Call{Template: template, Func: fn, Args: args, Line: line, Value: value}
}

// TestBookFinds: which kept answer a call gets.
func TestBookFinds(t *testing.T) {
	for _, c := range []struct {
		reason  string
		kept    []chance.Call
		present string // lines that the template still has
		ask     []chance.Call
		want    string
	}{
		{"the same call", []chance.Call{call("a", "f", "1", "x", "A")}, "x", []chance.Call{call("a", "f", "1", "x", "")}, "A"},
		{"other arguments, function or template", []chance.Call{call("a", "f", "1", "x", "A")}, "x",
			[]chance.Call{call("a", "f", "2", "x", ""), call("a", "g", "1", "x", ""), call("b", "f", "1", "x", "")}, "- - -"},
		{"equal calls by their order", []chance.Call{call("a", "f", "1", "x", "A"), call("a", "f", "1", "x", "B")}, "x",
			[]chance.Call{call("a", "f", "1", "x", ""), call("a", "f", "1", "x", ""), call("a", "f", "1", "x", "")}, "A B -"},
		{"a new call before an old one", []chance.Call{call("a", "f", "1", "old", "A")}, "new old",
			[]chance.Call{call("a", "f", "1", "new", ""), call("a", "f", "1", "old", "")}, "- A"},
		{"a line that was written otherwise", []chance.Call{call("a", "f", "1", "old", "A")}, "new",
			[]chance.Call{call("a", "f", "1", "new", "")}, "A"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			b := chance.NewBook(chance.Answers{Calls: c.kept}, func(k chance.Call) bool {
				return strings.Contains(" "+c.present+" ", " "+k.Line+" ")
			})
			var got []string
			for _, ask := range c.ask {
				v, ok := b.Find(ask)
				if !ok {
					v = "-"
				}
				got = append(got, v)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBookKeepsAll: an answer that nobody asks for today is there when somebody asks again.
func TestBookKeepsAll(t *testing.T) {
	kept := chance.Answers{Calls: []chance.Call{call("a", "f", "1", "x", "A"), call("a", "f", "1", "y", "B")}}
	b := chance.NewBook(kept, func(chance.Call) bool { return true })
	if v, _ := b.Find(call("a", "f", "1", "y", "")); v != "B" {
		t.Fatal(v)
	}
	b.Add(call("a", "f", "2", "z", "C"))
	want := chance.Answers{Calls: []chance.Call{kept.Calls[0], kept.Calls[1], call("a", "f", "2", "z", "C")}}
	if diff := cmp.Diff(want, b.Answers()); diff != "" {
		t.Error(diff)
	}
	if len(kept.Calls) != 2 || kept.Digest() == b.Answers().Digest() || (chance.Answers{}).Digest() != "" {
		t.Error("digests do not tell answers apart")
	}
}

func TestHidden(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	a := chance.Answers{
		Calls: []chance.Call{{Func: "f", Value: "pw"}, {Func: "now", Value: "2026", Public: true}, {Func: "genCA", Value: `{"cert":"c","key":"k"}`},
			{Func: "f", Value: "{odd"}},
		Secrets: map[string]map[string]string{"ns/x": {"ca.crt": b64("-----BEGIN CERTIFICATE-----"), "p": b64("looked")}},
	}
	if diff := cmp.Diff([]string{"pw", "k", "{odd", "looked"}, a.Hidden()); diff != "" {
		t.Error(diff)
	}
}

// TestWithout: which answers a rotation drops.
func TestWithout(t *testing.T) {
	a := chance.Answers{
		Calls: []chance.Call{call("app/templates/a.yaml", "randAlpha", "", "", "1"), call("app/templates/b.yaml", "randAlpha", "", "", "2"),
			call("values.db.password", chance.Generate, "", "", "3"), call("", "uuidv4", "", "", "4")},
		Secrets: map[string]map[string]string{"ns/x": {"p": "cA=="}},
	}
	lookedUp := func(out chance.Answers) bool { return len(out.Secrets) > 0 }
	for name, want := range map[string]string{
		"": "", "a.yaml": "2 3 4", "app/templates/b.yaml": "1 3 4", "app/templates/a.yaml:randAlpha": "2 3 4", "randAlpha": "3 4",
		"values.db.password": "1 2 4", "tpl:uuidv4": "1 2 3", "nothing": "1 2 3 4",
	} {
		out, gone := a.Without(name)
		var left []string
		for _, c := range out.Calls {
			left = append(left, c.Value)
		}
		if got := strings.Join(left, " "); got != want || gone != 4-len(left) || lookedUp(out) != (name != "") {
			t.Errorf("%q leaves %q, want %q; %d went, look-ups %v", name, got, want, gone, out.Secrets)
		}
	}
	if diff := cmp.Diff([]string{"app/templates/a.yaml:randAlpha", "app/templates/b.yaml:randAlpha", "tpl:uuidv4", "values.db.password"}, a.Names()); diff != "" {
		t.Error(diff)
	}
}

// TestWithoutLookedUp: a rotation of one name drops what look-ups find of it, and what stands beside that and is none of the
// others; not what they find of others, nor what was there before anything was made up.
func TestWithoutLookedUp(t *testing.T) {
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	a := chance.Answers{
		Calls: []chance.Call{call("app/templates/a.yaml", "randAlphaNum", "", "", "first-password"), call("app/templates/b.yaml", "randAlphaNum", "", "", "second-password"),
			call("app/templates/c.yaml", "genCA", "", "", `{"cert":"CERT-OF-CA","key":"KEY-OF-CA"}`), call("app/templates/a.yaml", "randInt", "", "", "7")},
		Secrets: map[string]map[string]string{
			"ns/a":    {"password": text("first-password"), "url": text("db://x:first-password@db"), "hash": text("5f2a"), "second": text("second-password")},
			"ns/b":    {"password": text("second-password"), "port": text("7777")},
			"ns/ca":   {"tls.key": text("KEY-OF-CA"), "tls.crt": text("CERT-OF-CA")},
			"ns/helm": {"password": text("of-helm-itself")},
		},
	}
	for name, want := range map[string]string{
		"a.yaml:randAlphaNum":               "ns/a: hash password second url; ns/b: password port; ns/ca: tls.crt tls.key; ns/helm: password",
		"app/templates/a.yaml:randAlphaNum": "ns/a: second; ns/b: password port; ns/ca: tls.crt tls.key; ns/helm: password",
		"b.yaml":                            "ns/a: password url; ns/ca: tls.crt tls.key; ns/helm: password", "genCA": "ns/a: hash password second url; ns/b: password port; ns/helm: password",
		"randInt": "ns/a: hash password second url; ns/b: password port; ns/ca: tls.crt tls.key; ns/helm: password", "": "",
	} {
		out, _ := a.Without(name)
		var left []string
		for _, at := range slices.Sorted(maps.Keys(out.Secrets)) {
			left = append(left, at+": "+strings.Join(slices.Sorted(maps.Keys(out.Secrets[at])), " "))
		}
		if got := strings.Join(left, "; "); got != want {
			t.Errorf("%q leaves %s, want %s", name, got, want)
		}
	}
}

func TestRotatesAll(t *testing.T) {
	for text, want := range map[string]bool{"db": true, "db/": true, "db/x": false, "dbx": false, "": false} {
		if got := (chance.Rotation{text}).All("db"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestSource(t *testing.T) {
	n := byte(0)
	s := &chance.Source{Now: time.Now, Read: func(p []byte) {
		for i := range p {
			n += 7
			p[i] = n
		}
	}}
	seen := map[int]int{}
	for range 3000 {
		seen[s.Below(3)]++
	}
	if len(seen) != 3 || min(seen[0], seen[1], seen[2]) < 500 {
		t.Errorf("numbers are uneven: %v", seen)
	}
	if text := s.Text(64, "aé"); len([]rune(text)) != 64 || strings.Trim(text, "aé") != "" || s.Text(-1, "a") != "" {
		t.Errorf("text %q", text)
	}
	if id := s.UUID(); len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) || id == s.UUID() {
		t.Errorf("uuid %s", id)
	}
}

// TestRotation: what is made anew, and mistakes in saying so.
func TestRotation(t *testing.T) {
	kept := map[string]chance.Answers{"db": {Calls: []chance.Call{call("app/templates/a.yaml", "randAlpha", "", "", "1")}}}
	for text, want := range map[string]string{
		"db": "", "db/a.yaml": "", "new": "",
		"dbb":       `error: --rotate dbb: there is no instance "dbb" (did you mean "db"?)`,
		"zzzzz":     `error: --rotate zzzzz: there is no instance "zzzzz" (there is: db, new, far, still)`,
		"db/b.yaml": "error: --rotate db/b.yaml: nothing of that name was made up for db (there is: app/templates/a.yaml:randAlpha)",
		"new/x":     "error: --rotate new/x: nothing of that name was made up for new (nothing was)",
		"far/x":     "", "far": "",
		"still": "error: --rotate still: still is suspended: nothing of it is written, and it would keep what was made up (end the suspension, or leave the cluster out)",
	} {
		r := chance.Rotation{text}
		got := ""
		for _, f := range r.Vet(chance.Rotated{Bundle: "shop", Instances: []string{"db", "new", "far", "still"}, Elsewhere: map[string]string{"far": "not selected"}, Suspended: map[string]bool{"still": true}, Kept: kept}) {
			got += string(f.Severity) + ": " + f.String()
		}
		got = strings.ReplaceAll(got, "error: error", "error")
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if anew := r.Of("db", kept["db"]).IsZero(); anew != (text == "db" || text == "db/a.yaml") || r.Has("db") != strings.HasPrefix(text+"/", "db/") {
			t.Errorf("%s: made anew %t, has %t", text, anew, r.Has("db"))
		}
	}
}

// TestRotationOfSeveralBundles: an entry is that of the one bundle of the run that has the instance. One that several have is
// refused, and one that none has, with the same words by each.
func TestRotationOfSeveralBundles(t *testing.T) {
	kept := map[string]chance.Answers{"db": {Calls: []chance.Call{call("app/templates/a.yaml", "randAlpha", "", "", "1")}}}
	bundles := map[string][]string{"data": {"db", "api"}, "shop": {"web", "api"}}
	const both = `--rotate api: data and shop have an instance "api" each, with values of their own (choose one bundle with --bundle)`
	const none = `--rotate x: there is no instance "x" (there is: api, db, web)`
	for text, want := range map[string]map[string]string{
		"db":        {"data": "", "shop": ""},
		"db/a.yaml": {"data": "", "shop": ""},
		"db/b.yaml": {"data": "--rotate db/b.yaml: nothing of that name was made up for db (there is: app/templates/a.yaml:randAlpha)", "shop": ""},
		"web":       {"data": "", "shop": ""},
		"api":       {"data": both, "shop": both},
		"x":         {"data": none, "shop": none},
	} {
		for bundle, other := range map[string]string{"data": "shop", "shop": "data"} {
			of := chance.Rotated{Bundle: bundle, Instances: bundles[bundle], Beside: map[string][]string{other: bundles[other]}, Kept: kept}
			got := ""
			for _, f := range (chance.Rotation{text}).Vet(of) {
				got += strings.TrimPrefix(f.String(), "error: ")
			}
			if got != want[bundle] {
				t.Errorf("%s of %s: %s, want %s", text, bundle, got, want[bundle])
			}
		}
	}
}
