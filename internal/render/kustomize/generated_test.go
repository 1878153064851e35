package kustomize

import (
	"slices"
	"testing"
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
