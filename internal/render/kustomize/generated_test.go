package kustomize

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestValuesOfEnv: kustomize takes each line of a value of several lines for a name of its own; it is a secret all the same.
func TestValuesOfEnv(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		has   []string
		lacks []string
	}{
		"a key in quotes":         {"A=\"-----BEGIN K-----\nMIIabc/d+\nVpgQ9==\n-----END K-----\"\nB=two\n", []string{"MIIabc/d+", "VpgQ9", "VpgQ9==", "two"}, []string{"B", "-----BEGIN K-----"}},
		"allowed characters":      {"A='one\nsecond9=x\nthird'\n", []string{"one", "second9", "third", "second9=x"}, []string{"A"}},
		"quotes that never close": {"A='one\nPORT=80\n", []string{"'one", "80"}, []string{"PORT"}},
		"a line that is no name":  {"NAME\nsome secret/1\n", []string{"some secret/1"}, []string{"NAME"}},
		"a token without a name":  {"glpat_Zebra9xQm4Lj3Kappa77Vb2\nAQz8Xw7Cv6Bn5Mk4Lj3=\nOAUTH2_CLIENT_SECRET_FOR_S3=\n", []string{"glpat_Zebra9xQm4Lj3Kappa77Vb2", "AQz8Xw7Cv6Bn5Mk4Lj3"}, []string{"OAUTH2_CLIENT_SECRET_FOR_S3"}},
		"quotes that close":       {"A=\"x\" # note\nB=\"y\"\n", []string{"y"}, []string{"B"}},
		"backslashes":             {"A=one/1\\\nsecond9Zebra\\\r\n  third9=x\\  \n\nB=two\nC=z\n", []string{"one/1", "second9Zebra", "third9=x", "third9", "two", "z"}, []string{"A", "B", "C"}},
		"a backslash in quotes":   {"A=\"one\\\nsecond9Zebra\"\nthird9Zebra\nB=two\n", []string{"one", "second9Zebra", "two"}, []string{"third9Zebra", "A", "B"}},
		"quotes, then backslash":  {"A='one\nsecond9Zebra'\\\nthird9Zebra\nB=two\n", []string{"'one", "second9Zebra", "third9Zebra", "two"}, []string{"A", "B"}},
		"a token that goes on":    {"glpat_Zebra9xQm4Lj3Kappa77Vb2\\\nthird9Zebra\nB=two\n", []string{"third9Zebra", "two"}, []string{"B"}},
		"a note is no value":      {"# c \\\nsecond9Zebra\nA=one\\", []string{"one\\"}, []string{"second9Zebra", "A"}},
		"a mark at the beginning": {"\ufeffA=one\n", []string{"one"}, []string{"A", "\ufeffA", "\ufeffA=one"}},
		"as always":               {"# c=d\nP=three=4\r\nQ=\"q\"\n\n", []string{"three=4", "q"}, []string{"P", "Q", "d", "# c=d"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := valuesOfEnv(c.text)
			for _, v := range c.has {
				if !slices.Contains(got, v) {
					t.Errorf("%q is not known: %q", v, got)
				}
			}
			for _, v := range c.lacks {
				if slices.Contains(got, v) {
					t.Errorf("%q is taken for a value: %q", v, got)
				}
			}
		})
	}
}

// A line that kustomize's scanner cannot hold is an error with its place: what stands from there on would be missing. One that it just holds is rendered.
func TestLinesOfEnvFiles(t *testing.T) {
	const most = 65535
	for _, c := range []struct {
		name, text string
		line       int
	}{
		{"one that it holds", "A=1\nB=" + strings.Repeat("x", most-2) + "\nC=3\n", 0},
		{"one byte more", "A=1\nB=" + strings.Repeat("x", most-1) + "\nC=3\n", 2},
		{"as the last, without an end", "A=1\nC=3\nB=" + strings.Repeat("x", most-1), 3},
		{"with a carriage return", "C=3\r\nB=" + strings.Repeat("x", most-2) + "\r\n", 2},
	} {
		for _, generator := range []string{"configMapGenerator", "secretGenerator"} {
			dir := t.TempDir()
			for name, text := range map[string]string{"kustomization.yaml": generator + ": [{name: a, envs: [some.env]}]\n", "some.env": c.text} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			res, err := New(Options{}).Render(t.Context(), request(dir, "."))
			if c.line == 0 {
				if data, _ := res.Objects[0].Body["data"].(map[string]any); err != nil || len(data) != 3 {
					t.Errorf("%s, %s: %d keys, %v", c.name, generator, len(data), err)
				}
				continue
			}
			f := diag.From(err, "")
			if err == nil || f[0].Code != "env-line" || f[0].Pos.Line != c.line || filepath.Base(f[0].Pos.File) != "some.env" || strings.Contains(fmt.Sprint(f), "xxx") {
				t.Errorf("%s, %s: %.300v", c.name, generator, err)
			}
		}
	}
}
