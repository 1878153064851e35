package cuelang

import (
	"strings"
	"testing"

	"cuelang.org/go/cue/cuecontext"
)

// TestBytesAreNotShown: what CUE quotes of a bytes value is not printed, as nobody could know it again; a text is masked before
// anything is cut from it.
func TestBytesAreNotShown(t *testing.T) {
	for _, src := range []string{
		`a: 'c4nary\x00\xffpass' & string`, `a: 'c4nary' & 'other'`, "a: '''\n\tc4nary one\n\tc4nary two\n\t''' & int", `a: '\xff c4nary \' it' & =~"^x"`,
		`a: b: 'c4nary' & {c: 1}`, `import "encoding/base64"
a: base64.Decode(null, "YzRuYXJ5AAHm/nBhc3M=") & string`, `a: -'c4nary'`, `a: !'c4nary'`, `a: 1 + 'c4nary'`, `a: 'c4nary' div 2`, `a: 'c4nary' =~ 3`, `a: ['c4nary'+1, 1]`, `a: ('c4nary' | 'c4nary2') & 3`, `a: ['c4nary' & 1]`,
	} {
		v := cuecontext.New().CompileString(src)
		fs := Findings(v.Validate(), nil, "")
		if len(fs) == 0 {
			t.Fatalf("%s: no error", src)
		}
		for _, f := range fs {
			if s := f.String(); strings.Contains(s, "c4nary") || strings.Contains(s, "pass") || strings.Contains(s, `\x`) {
				t.Errorf("%s: %s", src, s)
			}
		}
	}
	for text, want := range map[string]string{
		"cannot use 'a b' (type bytes) as string": "cannot use '***' (type bytes) as string",
		"it can't, and it won't":                  "it can't, and it won't",
		// What a parser or a decoder says of its signs holds no value.
		"expected label or '}', found 'STRING' \"strings\"":                                               "",
		"expected operand, found '}'":                                                                     "",
		"missing ',' in list literal":                                                                     "",
		"expected 'STRING', found 'import'":                                                               "",
		"invalid character '}' looking for beginning of object key string":                                "",
		`invalid character '\'' looking for beginning of value`:                                           "",
		"illegal character U+0023 '#'":                                                                    "",
		"identifiers starting with '__' are reserved":                                                     "",
		"illegal '_' in number":                                                                           "",
		"illegal token '..'; expected '.'":                                                                "",
		"attribute missing ')'":                                                                           "",
		"invalid interpolation: unmatched ')'":                                                            "",
		"use 'else' with single 'if' or 'try' clause":                                                     "",
		"use 'otherwise' for comprehensions with multiple clauses or 'for' clauses":                       "",
		"error in call to path.Match: '**' is not supported in patterns as of yet":                        "",
		"conflicting values '**' and 'c4nary'":                                                            "conflicting values '***' and '***'",
		"'c4nary' is not supported in patterns":                                                           "'***' is not supported in patterns",
		"conflicting values '''\n\tc4nary '**' is not supported in patterns c4nary\n\t''' and 1":          "conflicting values '***' and 1",
		"conflicting values 'c4nary \\'**\\' is not supported in patterns' and #'illegal '_' in number'#": "conflicting values '***' and '***'",
		// Nor does the name of an operator.
		"invalid operands 1 and \"***\" to '+' (type int and string)":     "",
		"invalid operands 'c4nary' and '+' to '+' (type bytes and bytes)": "invalid operands '***' and '***' to '+' (type bytes and bytes)",
		"invalid operands 'c4nary' and 2 to 'div' (type bytes and int)":   "invalid operands '***' and 2 to 'div' (type bytes and int)",
		"invalid left-hand value to '&&' (type bool): incomplete value":   "",
		"invalid operand 'c4nary' ('!' requires concrete value)":          "invalid operand '***' ('!' requires concrete value)",
		"operand 'c4nary' of '!' not concrete (was bytes)":                "operand '***' of '!' not concrete (was bytes)",
		"conflicting values '''\n\ta to '+' (type c4nary\n\t''' and 1":    "conflicting values '***' and 1",
		"invalid operation -'c4nary' (- bytes)":                           "invalid operation -'***' (- bytes)",
		"expected one of 'c4nary' or 'c4n'":                               "expected one of '***' or '***'",
		"invalid character 'c' in 'c4nary'":                               "invalid character '***' in '***'",
		"conflicting values 'a\\'b' and \"x\"":                            "conflicting values '***' and \"x\"",
	} {
		if want == "" {
			want = text
		}
		if got := withoutBytes(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	for src, want := range map[string]string{"import \"path\"\na: path.Match(\"**/x\", \"y\")": "'**' is not supported", "a: 1__0": "illegal '_' in number", "a: {__x: 1}": "starting with '__' are"} {
		v := cuecontext.New().CompileString(src)
		if fs := Findings(v.Validate(), nil, ""); len(fs) == 0 || !strings.Contains(fs[0].String(), want) {
			t.Errorf("%s: %v, want %s", src, fs, want)
		}
	}
	long := cuecontext.New().CompileString("a: \"c4nary one\\nc4nary two\" & =~\"^x\"")
	fs := Findings(long.Validate(), func(text string) string { return strings.ReplaceAll(text, `c4nary one\nc4nary two`, "***") }, "")
	if len(fs) == 0 || strings.Contains(fs[0].String(), "c4nary") {
		t.Errorf("%v", fs)
	}
}
