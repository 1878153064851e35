package bind

import (
	"encoding/json"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// helmMeans are files of values whose words another reader of YAML takes otherwise.
var helmMeans = []string{
	"a: yes\nb: no\nc: on\nd: off\ne: YES\nf: Off\ng: y\nh: N\n", "a: 'yes'\nb: \"no\"\nc: !!str on\nd: ! off\n",
	"l: [yes, 'no', off]\nm:\n- on\n- {x: no}\n", "t: |\n  yes\nu: yesterday\nv: |-\n  no\nw: >-\n  off\n", "a: &x no\nb: *x\n",
	"äö: no\nb: 'ü' # no\nc: off # on\n",
	// numbers
	"a: 0644\nb: 0o644\nc: 0x1F\nd: 0b101\ne: 1_000\nf: 1_0.5\ng: 1e3\nh: .5\ni: 5.\nj: +7\nk: -0\nl: 0.0\nm: -0.0\nn: 00\no: 08\np: 0_7\n",
	"a: 12345678901234567890\nb: 9007199254740993\nc: -9223372036854775808\nd: 1e400\ne: 1.7976931348623157e308\nf: 123456789012345678901234567890\n",
	"a: 190:20:30\nb: 1:30\nc: 22:22\nd: 1.5:2\n", "a: !!float 1\nb: !!int 0644\nc: !!str 0644\nd: !!int '7'\n", "a: 1.10\nb: 1e2x\nc: 1__0\nd: _1\ne: 0x\nf: 0o8\n",
	// dates
	"a: 2026-02-03\nb: 2026-02-03T04:05:06Z\nc: 2026-02-03 04:05:06 +1\nd: !!timestamp 2026-02-03\n",
	// nothing
	"a: ~\nb: null\nc: Null\nd: NULL\ne:\nf: nil\ng: ''\n",
	// keys
	"on: 1\noff: 2\nyes: 3\n'no': 4\ny: 5\n", "1: a\n0644: b\n1.5: c\ntrue: d\n1_000: e\n0x10: f\n1e3: g\n", "2026-02-03: a\n1:30: b\n0o17: c\n",
	"? on\n: 1\n? 'on'\n: 2\n", "'1': a\n\"0644\": b\n!!str 7: c\n", "*x : 1\n", "a: &k on\n*k : 2\n", "~: a\n", "? [a]\n: b\n", "1.10: a\n.5: b\n", ".inf: x\n",
	"? |\n  a\n  b\n: c\n", "? !!int 0644\n: c\n", "<<: x\n", "? !!binary aGk=\n: c\n",
	// documents, anchors, merges, tags
	"a: 1\n---\nb: 2\n", "a: {x: 1, y: [1]}\n---\na: {y: [2], z: 3}\n--- \na: {x: null}\n", "---\n---\na: 1\n", "# none\n---\na: 1\n...\n", "--- {a: 1}\n", "a: 1\n--- # more\nb: on\n",
	"a: 1\n---\n- b\n", "- a\n---\nb: 1\n", "null\n---\na: 1\n", "a: |\n  x\n  --- y\nb: 1\n", "%YAML 1.1\n---\na: on\n",
	"a: &a {b: 1, on: 2}\nc: {<<: *a, b: 3}\nd: {b: 3, <<: *a}\ne: {<<: [*a, {z: 0644}]}\n", "a: &a [on]\nb: *a\n", "a: &a {x: *a}\n", "a: *nobody\n", "a: {<<: 7}\n",
	"a: !!binary aGVsbG8=\nb: !!binary //8=\nc: !mine on\nd: !!set {a, b}\ne: !!omap [a: 1]\n", "a: .inf\n", "a: .nan\n", "a: -.Inf\n",
	"a: \"\\u00e9\\x41\\n\"\nb: 'it''s'\n", "a: \"x\n  y\"\nb: x\n  y\n", "{a: 1, b: [c, on], 'd': 0644}\n", "a: b: c\n", "a:\n\t- b\n", "a: 1\n b: 2\n", "=: 1\na: =\n", "a: @x\n", "a: on\r\nb: 0644\r\n",
	"a: 1\nb: 2", "\ufeffa: 1\n", "a: 'é' \nä: &x on\nb: {ö: *x}\n",
}

// TestChartFilesMeanWhatHelmMakesOfThem: numbers, booleans, dates, keys and documents of a file of values for a chart are
// what Helm's own loader reads, whatever their spelling.
func TestChartFilesMeanWhatHelmMakesOfThem(t *testing.T) {
	read := 0
	for _, content := range helmMeans {
		read += sameAsHelm(t, content)
	}
	if read < 40 {
		t.Errorf("only %d files were read by both", read)
	}
	same(t, "not for a module", `{"a":"yes"}`, readValues(t, v1alpha1.Instance{Module: &v1alpha1.ModuleSource{}}, "a: yes\n"))
}

// FuzzChartFile: what Helm refuses is refused, and what is read is what Helm reads.
func FuzzChartFile(f *testing.F) {
	for _, content := range helmMeans {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) { sameAsHelm(t, content) })
}

// sameAsHelm compares a file with Helm's own reading; it says 1 when both read it.
func sameAsHelm(t *testing.T, content string) int {
	t.Helper()
	x, err := chartData("values.yaml", []byte(strings.TrimPrefix(content, "\ufeff")))
	if err == nil {
		err = fits(x)
	}
	want, helmErr := loader.LoadValues(strings.NewReader(content))
	if err == nil && !nothing(x) && x.Kind != v1alpha1.KindStruct {
		return 0 // a list or a text: not all the values of a chart
	}
	switch {
	case err == nil && helmErr != nil:
		t.Errorf("%q: only Helm refuses it: %v", content, helmErr)
		return 0
	case err != nil && helmErr == nil:
		text := err.Error()
		if cuelang.CheckText("", []byte(content)) == nil && !strings.Contains(text, "twice") && !strings.Contains(text, "too deeply") {
			t.Errorf("%q: Helm reads it: %v", content, err)
		}
		return 0
	case err != nil:
		return 0
	}
	got := map[string]any{}
	if !nothing(x) {
		v, err := x.Any()
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		got = v.(map[string]any)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		t.Errorf("%q:\nhelm   %s\nhawser %s", content, a, b)
	}
	return 1
}

// TestChartFilePlaces: values and keys keep the line of the user's file, in every document, and order.
func TestChartFilePlaces(t *testing.T) {
	x, err := chartData("v.yaml", []byte("on: 1\nm:\n  z: 0644\n  a: [x, {k: no}]\n---\nlast: &l\n  q: 1\nuse:\n  <<: *l\n  r: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "order", `{true: 1, m: {z: 420, a: ["x", {k: false}]}, last: {q: 1}, use: {r: 2, q: 1}}`, show(x))
	for path, want := range map[string]string{"true": "v.yaml:1:5", "m.z": "v.yaml:3:6", "m.a": "v.yaml:4:6", "last.q": "v.yaml:7:6", "use.r": "v.yaml:10:6", "use.q": "v.yaml:7:6"} {
		if got := diag.Pos(x.Lookup(strings.Split(path, ".")...).Pos).String(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for content, want := range map[string]string{
		"a: 1\nb: 2\na: 3\n": "v.yaml:3:1: a is given twice, first in line 1", "on: 1\ntrue: 2\n": "v.yaml:2:1: true is given twice, first in line 1",
		"x:\n  a: .nan\n": "not valid YAML for Helm: unsupported value: NaN", "a: 1\n---\n- b\n": "v.yaml:3:1: several documents are merged, as Helm does it: each has to be a map",
	} {
		_, err := chartData("v.yaml", []byte(content))
		if err == nil {
			t.Errorf("%q: no error", content)
			continue
		}
		f := cuelang.FindingsFor(err, cuelang.Show{})[0]
		if got := f.Pos.String() + ": " + f.What; !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", content, got, want)
		}
	}
}
