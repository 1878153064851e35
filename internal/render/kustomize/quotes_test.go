package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratorErrorsQuoteNothing: errors about the sources of generators say what is wrong, never what stands there.
func TestGeneratorErrorsQuoteNothing(t *testing.T) {
	const canary = "canary-pa55"
	for name, c := range map[string]struct{ kustomization, env string }{
		"invalid utf8":               {"secretGenerator: [{name: s, envs: [e.env]}]\n", "P=" + canary + "\xff\n"},
		"a literal's no pair":        {"secretGenerator: [{name: s, literals: [" + canary + "]}]\n", ""},
		"a literal's no key":         {"configMapGenerator: [{name: s, literals: [\"=" + canary + "\"]}]\n", ""},
		"a value out of bounds":      {"resources: [r.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: a, fieldPath: data.p, options: {delimiter: \"-\", index: 7}}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.q]}]\n", ""},
		"a target of another kind":   {"resources: [r.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: a, fieldPath: data.q}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.p.x]}]\n", ""},
		"a list that is none":        {"resources: [r.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: a, fieldPath: data.q}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [\"data.p.[name=x]\"]}]\n", ""},
		"the source of another kind": {"resources: [r.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: a, fieldPath: data.p.0.x}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.q]}]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"kustomization.yaml": c.kustomization, "e.env": c.env,
				"r.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {p: " + canary + "-x, q: z}\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := New(Options{}).Render(t.Context(), request(dir, "."))
			if err == nil {
				t.Fatal("no error")
			}
			text := err.Error()
			if strings.Contains(text, canary) || strings.Contains(text, "99 97 110 97 114 121") {
				t.Errorf("the error quotes the source: %s", text)
			}
		})
	}
}

// TestGeneratedValuesAreKnown: what secretGenerators put into Secrets is made known for the instance before anything is
// said, values of ConfigMaps are not, nor what may stand anywhere.
func TestGeneratedValuesAreKnown(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"kustomization.yaml": "secretGenerator:\n- {name: s, literals: [A=one-c4nary, AQz8Xw.c4nary==, EMPTY=, LEVEL=info, REPLICAS=3, HOST=db.example.com, 'B=\"two-c4nary\"'], envs: [e.env], files: [x=sub/f.txt]}\nconfigMapGenerator:\n- {name: c, literals: [C=open]}\ngenerators: [g.yaml]\n",
		"e.env":              "# not=this\nP=three=c4nary\r\nNAME\n",
		"sub/f.txt":          "four c4nary\n",
		"g.yaml":             "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: g}\nliterals: [D=five-c4nary]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]bool{}
	_, err := New(Options{Learn: func(instance, value string) { known[instance+": "+value] = true }}).Render(t.Context(), request(dir, "."))
	if err != nil {
		t.Fatal(err)
	}
	name := request(dir, ".").Instance.Name
	for _, want := range []string{"one-c4nary", "two-c4nary", "three=c4nary", "four c4nary\n", "five-c4nary", "AQz8Xw.c4nary==", "AQz8Xw.c4nary"} {
		if !known[name+": "+want] {
			t.Errorf("%q is not known", want)
		}
	}
	common := New(Options{}).saying(&tree{generated: []string{"letmein"}}, request(dir, "."))
	if said := common(`bad value "letmein"`); strings.Contains(said, "letmein") {
		t.Errorf("the library says %s", said)
	}
	if len(known) != 7 {
		t.Errorf("%v", known)
	}
}

// TestYAMLErrorsQuoteNothing: an alias, a tag or a key may be a value that nobody put in quotes: what cannot be read as YAML is told without them. The
// one key that is told is a field that a kustomization, which can be read, does not have.
func TestYAMLErrorsQuoteNothing(t *testing.T) {
	for name, c := range map[string]struct{ text, said string }{
		"an alias":               {text: "a: *c4nary\n"},
		"a tag":                  {text: "a: !!int c4nary\n"},
		"a key twice":            {text: "c4nary: 1\nc4nary: 2\n", said: `a kustomization has no field "c4nary"`},
		"a key of words":         {text: "c4nary pass: 1\nc4nary pass: 2\n", said: `a kustomization has no field "c4nary pass"`},
		"a key in a map":         {text: "data: {c4nary: 1, c4nary: 2}\n"},
		"a key in a block":       {text: "data:\n  c4nary: 1\n  c4nary: 2\n"},
		"a key that is a list":   {text: "? [c4nary]\n: x\n"},
		"a key that is a map":    {text: "? {c4nary: x}\n: x\n"},
		"a key without a value":  {text: "c4nary\n"},
		"two keys in a line":     {text: "password: c4nary: x\n"},
		"a key that is an alias": {text: "*c4nary : x\n"},
		"a key with a tag":       {text: "!!c4nary x: y\n"},
	} {
		failed := false
		for _, file := range []string{"kustomization.yaml", "o.yaml"} {
			dir := t.TempDir()
			for f, content := range map[string]string{"kustomization.yaml": "resources: [o.yaml]\n", "o.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"} {
				if f == file {
					content += c.text
				}
				if err := os.WriteFile(filepath.Join(dir, f), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := New(Options{}).Render(t.Context(), request(dir, "."))
			if err == nil {
				continue
			}
			failed = true
			text := err.Error()
			if file == "kustomization.yaml" && c.said != "" {
				text = strings.ReplaceAll(text, c.said, "")
			}
			if strings.Contains(text, "c4nary") {
				t.Errorf("%s in %s: %s", name, file, err)
			}
		}
		if !failed {
			t.Errorf("%s is no mistake in either file", name)
		}
	}
}

// TestWhatIsNoPatchIsNotQuoted: a file that is named and is something else, as a .env, is told by its name and mistake alone.
func TestWhatIsNoPatchIsNotQuoted(t *testing.T) {
	for name, text := range map[string]string{
		"resource": "resources: [x]", "patch": "resources: [o.yaml]\npatches: [{path: x}]", "patch with a target": "resources: [o.yaml]\npatches: [{path: x, target: {kind: ConfigMap}}]",
		"replacement": "resources: [o.yaml]\nreplacements: [{path: x}]", "definition": "resources: [o.yaml]\ncrds: [x]", "schema": "resources: [o.yaml]\nopenapi: {path: x}",
		"transformer": "resources: [o.yaml]\ntransformers: [x]", "generator": "generators: [x]", "component": "components: [x]", "configuration": "resources: [o.yaml]\nconfigurations: [x]",
		"JSON patch": "resources: [o.yaml]\npatchesJson6902: [{path: x, target: {version: v1, kind: ConfigMap, name: a}}]", "merge patch": "resources: [o.yaml]\npatchesStrategicMerge: [x]",
	} {
		for _, content := range []string{"PASSWORD=c4nary\nX=c4nary", "password: c4nary\n", "- c4nary\n", "c4nary: c4nary: c4nary", "[c4nary: json: x"} {
			dir := t.TempDir()
			for f, c := range map[string]string{"kustomization.yaml": text, "x": content, "o.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(c), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := New(Options{}).Render(t.Context(), request(dir, ".")); err != nil && strings.Contains(err.Error(), "c4nary") {
				t.Errorf("%s with %q: %v", name, content, err)
			}
		}
	}
}
