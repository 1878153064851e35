package diag

import (
	"strings"
	"testing"
)

// TestQuotable: lines are quoted of what says that it is a document, and not of Secrets, credentials and files that are something else.
func TestQuotable(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nx: 1\n"
	for name, c := range map[string]struct {
		file, text string
		line       int
		want       bool
	}{
		"an object":                {"a.yaml", object, 3, true},
		"an object in JSON":        {"a.json", `{"apiVersion": "v1", "kind": "ConfigMap", "x": }`, 1, true},
		"a bundle":                 {"b.yml", "bundle:\n  name: [\n", 2, true},
		"an object with a BOM":     {"a.yaml", "\ufeffapiVersion: v1\nkind: ConfigMap\nx: [\n", 3, true},
		"a fleet in CUE":           {"f.cue", "fleet: {\n\tx: \n}\n", 2, true},
		"a template":               {"templates/_helpers.tpl", "{{ define }}\n", 1, true},
		"the defaults":             {"x/hawser.yaml", "fleets: a\n", 1, true},
		"variables":                {".env", "PASSWORD=hunter2\n", 1, false},
		"variables by a link":      {"env.yaml", "PASSWORD=hunter2\nX: [\n", 1, false},
		"values":                   {"values.yaml", "db:\n  password: hunter2: x\n", 2, false},
		"a list":                   {"l.yaml", "- hunter2: x: y\n", 1, false},
		"a key":                    {"id_rsa", "-----BEGIN X-----\nhunter2\n", 2, false},
		"an object without ending": {"object", object, 3, false},
		"a Secret":                 {"s.yaml", "apiVersion: v1\nkind: Secret\ndata: {p: [\n", 3, false},
		"Secrets":                  {"s.yaml", "apiVersion: v1\nkind: SecretList\ndata: {p: [\n", 3, false},
		"a kubeconfig":             {"k.yaml", "apiVersion: v1\nkind: Config\nusers: [\n", 3, false},
		"beside an object":         {"a.yaml", object + "---\npassword: hunter2: x\n", 5, false},
		"an object beside another": {"a.yaml", "password: x\n---\n" + object, 4, true},
		"no line":                  {"a.yaml", object, 9, false},
	} {
		if line, ok := NewQuotable(c.file, []byte(c.text)).Line(c.line, func(string) bool { return false }); ok != c.want || !ok && line != "" {
			t.Errorf("%s: %q %t", name, line, ok)
		}
	}
}

// A line is asked about once, however many messages quote it, and is not quoted where it is secret.
func TestSecretLineIsAskedOnce(t *testing.T) {
	q, asked := NewQuotable("a.cue", []byte("a: 1\nb: 2\n")), 0
	for range 3 {
		if _, ok := q.Line(2, func(line string) bool { asked++; return line == "b: 2" }); ok {
			t.Error("a secret line is quoted")
		}
	}
	if line, ok := q.Line(1, func(string) bool { asked++; return false }); line != "a: 1" || !ok || asked != 2 {
		t.Errorf("%q %v, asked %d times", line, ok, asked)
	}
}

// TestLinesOfASecretText: a line of a text of several lines is not quoted where the text is a secret, also where it is indented wrongly.
func TestLinesOfASecretText(t *testing.T) {
	secret := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "password: x") }
	const head = "bundle:\n  name: a\n"
	for name, c := range map[string]struct {
		file, text string
		line       int
		want       bool
	}{
		"of a secret":             {"b.yaml", head + "  password: |\n    one\n\n    two: x\n", 6, false},
		"folded, with a chomp":    {"b.yaml", head + "  password: >2-\n    one\n", 4, false},
		"with a comment":          {"b.yaml", head + "  password: | # of ada\n    one\n", 4, false},
		"with a tag":              {"b.yaml", head + "  password: &p !!binary |\n    one\n", 4, false},
		"of a list":               {"b.yaml", head + "  password: x\n  c:\n    - |\n      one\n", 6, true},
		"indented wrongly":        {"b.yaml", head + "  password: |\nMIIE\n", 4, false},
		"further down":            {"b.yaml", head + "  password: |\n    one\n MIIE\nMIIF\n", 6, false},
		"of something else":       {"b.yaml", head + "  script: |\n    one\n", 4, true},
		"behind a secret":         {"b.yaml", head + "  password: |\n    one\n  c: x\n", 5, true},
		"a list behind a secret":  {"b.yaml", head + "  password: |\n    one\n  c:\n    - x\n", 6, true},
		"of CUE":                  {"b.cue", "password: \"\"\"\n\tone\n\t\"\"\"\n", 2, false},
		"behind it in CUE":        {"b.cue", "password: \"\"\"\n\tone\n\t\"\"\"\n}\n", 4, true},
		"of a key":                {"b.yaml", head + "  x: |\n    -----BEGIN RSA PRIVATE KEY-----\n    MIIE\n", 5, false},
		"behind a key":            {"b.yaml", head + "  x: |\n    -----BEGIN PRIVATE KEY-----\n    MIIE\n    -----END PRIVATE KEY-----\n  y: [\n", 7, true},
		"of a certificate":        {"b.yaml", head + "  x: |\n    -----BEGIN CERTIFICATE-----\n    MIIE\n", 5, true},
		"further than looked for": {"b.yaml", head + "  password: |\n" + strings.Repeat("    one\n", longestText+1) + "    c\n", longestText + 5, true},
	} {
		if _, ok := NewQuotable(c.file, []byte(c.text)).Line(c.line, secret); ok != c.want {
			t.Errorf("%s: %t", name, ok)
		}
	}
}
