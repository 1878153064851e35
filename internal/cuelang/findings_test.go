package cuelang_test

import (
	"errors"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"hawser.dev/hawser/internal/cuelang"
)

func findingsOf(src, file string) error {
	v := cuecontext.New().CompileString(src, cue.Filename(file))
	if err := v.Err(); err != nil {
		return err
	}
	return v.Validate(cue.Concrete(true))
}

func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		src, want string
		n         int
	}{
		"conflict":      {"a: b: 1\na: b: 2", "in.cue:1:7: a.b: conflicting values 2 and 1: see in.cue:2:7", 1},
		"bound":         {"n: >0\nn: -3", "in.cue:1:4: n: invalid value -3 (out of bound >0): see in.cue:2:4", 1},
		"typo":          {"#D: {replicas?: int}\nx: #D & {replcas: 3}", "x.replcas: field not allowed", 1},
		"syntax":        {"a: {", "in.cue:1:", 1},
		"list branches": {"#T: {p: int}\nl: *[] | [...#T]\nl: [{p: \"x\"}]", `l.0.p: conflicting values "x" and int`, 1},
		"enum":          {"e: \"dev\" | \"prod\"\ne: \"staging\"", `e: value "staging" is none of "dev", "prod"`, 1},
		"two":           {"a: int\nb: string", "incomplete value int", 2},
		"schema":        {"a: 1", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			fs := cuelang.Findings(findingsOf(c.src, "/base/in.cue"), nil, "/base")
			if len(fs) != c.n {
				t.Fatalf("%d findings, want %d: %v", len(fs), c.n, fs)
			}
			if c.n > 0 && !strings.Contains(fs[0].String(), c.want) {
				t.Errorf("got  %s\nwant %s", fs[0], c.want)
			}
		})
	}
}

func TestFindingsRedact(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	fs := cuelang.Findings(findingsOf("n: int\nn: \"hunter2\"", "in.cue"), redact, "")
	if len(fs) != 1 || strings.Contains(fs[0].String(), "hunter2") || !strings.Contains(fs[0].What, "***") {
		t.Errorf("got %v", fs)
	}
}

func TestFindingsForPrefersTheUsersFile(t *testing.T) {
	ctx := cuecontext.New()
	schema := ctx.CompileString("n: >0", cue.Filename("module/a.cue"))
	user := ctx.CompileString("\nn: -1", cue.Filename("user.cue"))
	err := schema.Unify(user).Validate()
	fs := cuelang.FindingsFor(err, cuelang.Show{
		Behind: func(f string) bool { return strings.HasPrefix(f, "module/") },
		Code:   "values",
	})
	if len(fs) != 1 || fs[0].Pos.File != "user.cue" || fs[0].Code != "values" || !strings.Contains(fs[0].Why, "module/a.cue") {
		t.Errorf("got %+v", fs)
	}
	hidden := cuelang.FindingsFor(err, cuelang.Show{Rename: func(string) string { return "" }})
	if len(hidden) != 1 || hidden[0].Pos.IsValid() {
		t.Errorf("got %+v", hidden)
	}
}

func TestFindingsOfOtherErrors(t *testing.T) {
	if fs := cuelang.Findings(nil, nil, ""); fs != nil {
		t.Errorf("got %v for no error", fs)
	}
	if fs := cuelang.Findings(errors.New("plain"), nil, ""); len(fs) != 1 || fs[0].What != "plain" {
		t.Errorf("got %v", fs)
	}
}
