package diag

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// obeyed is what no line of a document may hold: an order at its beginning, behind what begins an item, or one that is seen
// anywhere, and characters that nobody sees. quoted is one at the beginning of a string of JSON.
var (
	obeyed = regexp.MustCompile(`(?m)^[\s\p{Z}]*(?:[?-]\s+)*::[A-Za-z][A-Za-z-]*([ \t].*)?::|##vso\[|##teamcity\[|##\[|[\x{7f}-\x{9f}\x{ad}\x{200b}\x{2028}\x{202e}\x{2066}\x{feff}]`)
	quoted = regexp.MustCompile(`"\s*::[A-Za-z][A-Za-z-]*([ \t].*)?::`)
)

// encoded is a value as JSON.
func encoded(t interface{ Fatal(...any) }, v any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDocumentsGiveNoOrders: whatever strings a document has, as values, in lists and as keys, of one line or many, what is read
// of its JSON and its YAML is what was written, and no line of it is an order for a CI system.
func TestDocumentsGiveNoOrders(t *testing.T) {
	pieces := []string{"::error::", "::set-output name=a::", "::error file=a", "::", ":", "##vso[task.x]", "##[error]", "##", "#", "[", "##teamcity[a]", "\n", "\n", " ", "  ", "\t", "\r", "\u00a0", "- ", "? ",
		"|", "'", `"`, `\`, `\n`, `\u2028`, "a", "words of a longer text ", "\u00ad", "\u200b", "\u200d", "\ufe0f", "\ufeff", "\u2028", "\u202e", "\U000e0001", "\u009b", "\x7f", "\u0085", "\ufffe", "日", "⚠\ufe0f", "👩\u200d🚀", "Quoted0x", "<&>"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{"a": text.Draw(t, "value"), "b": []any{text.Draw(t, "item"), []any{text.Draw(t, "inner")}},
			"c": map[string]any{"k" + text.Draw(t, "key"): text.Draw(t, "of key"), text.Draw(t, "bare key") + "::x": "::y"}, text.Draw(t, "top key") + " z": 1.5}
		for _, indent := range []string{"", "  "} {
			in := encoded(t, doc, indent)
			out := Escaped(in)
			var got any
			if err := json.Unmarshal([]byte(out), &got); err != nil || !reflect.DeepEqual(got, any(doc)) {
				t.Fatalf("%q (%v)\nis not\n%q", out, err, in)
			}
			if at := obeyed.FindString(out) + quoted.FindString(out); at != "" {
				t.Fatalf("%q in\n%s", at, out)
			}
			for _, json := range []string{in, out} {
				data, err := YAML([]byte(strings.ReplaceAll(json, `\udb40\udc01`, "\U000e0001")))
				if err != nil {
					t.Fatalf("%v: %q", err, json)
				}
				got = nil
				if err := yaml.UnmarshalStrict(data, &got); err != nil || !reflect.DeepEqual(got, any(doc)) {
					t.Fatalf("%s (%v)\nis not\n%q\nbut\n%q", data, err, in, encoded(t, got, ""))
				}
				if at := obeyed.FindString(string(data)); at != "" {
					t.Fatalf("%q in\n%s", at, data)
				}
			}
		}
	})
}

// TestYAMLStaysReadable: only what a CI system would obey is written in another way, and nothing of what stands beside it.
func TestYAMLStaysReadable(t *testing.T) {
	script := "#!/bin/sh\necho ::group::build\nping ::1 && ping ::ffff:10.0.0.1\n"
	for in, want := range map[string]string{
		script:                          "a: |\n  #!/bin/sh\n  echo ::group::build\n  ping ::1 && ping ::ffff:10.0.0.1\nb: c::d\n",
		"why ::add-mask::x":             "a: why ::add-mask::x\nb: c::d\n",
		"::ffff:10.0.0.1":               "a: ::ffff:10.0.0.1\nb: c::d\n",
		"⚠\ufe0f gone":                  "a: ⚠\ufe0f gone\nb: c::d\n",
		"first\n::error::\"x\"\n":       "a: \"first\\n\\u003a:error::\\\"x\\\"\\n\"\nb: c::d\n",
		"see ##[error]x ##vso[y]":       "a: \"see \\u0023#[error]x \\u0023#vso[y]\"\nb: c::d\n",
		"admin\u200b\U000e0001 <ops@x>": "a: \"admin\\u200b\\U000e0001 <ops@x>\"\nb: c::d\n",
	} {
		out, err := YAML([]byte(encoded(t, map[string]string{"a": in, "b": "c::d"}, "")))
		if err != nil || string(out) != want {
			t.Errorf("%q (%v):\n%s\nwant\n%s", in, err, out, want)
		}
	}
}
