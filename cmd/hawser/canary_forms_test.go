package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// formsLine is how a command tells of the forms of its output, as they are registered.
var formsLine = regexp.MustCompile(`--output string\s+form of the output: (.*) \(default "text"\)`)

var helpOf sync.Map

// registeredForms are the forms of output that a command tells of; those that it has with --dry-run, too, when that is asked.
func registeredForms(t *testing.T, command string, dry bool) []string {
	t.Helper()
	text, known := helpOf.Load(command)
	if !known {
		var out bytes.Buffer
		a := app()
		a.Out, a.Err = &out, &out
		if code := a.Run(t.Context(), append(strings.Fields(command), "--help")); code != 0 {
			t.Fatalf("hawser %s --help: exit %d: %s", command, code, &out)
		}
		text, _ = helpOf.LoadOrStore(command, out.String())
	}
	m := formsLine.FindStringSubmatch(text.(string))
	if m == nil {
		if strings.Contains(text.(string), "form of the output") {
			t.Fatalf("hawser %s tells its forms in another way: registeredForms has to know it", command)
		}
		return []string{"text"}
	}
	var forms []string
	for _, form := range strings.Split(m[1], ", ") {
		if rest, conditional := strings.CutSuffix(form, " with --dry-run"); !conditional {
			forms = append(forms, form)
		} else if dry {
			forms = append(forms, strings.Split(rest, " and ")...)
		}
	}
	if !slices.Contains(forms, "text") || slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(form, " ") }) {
		t.Fatalf("hawser %s has the forms %q", command, forms)
	}
	return forms
}

// lines are the arguments of a run, one for each form of output where it has $FORMS.
func (r canaryRun) lines(t *testing.T) []string {
	t.Helper()
	before, after, all := strings.Cut(r.args, "$FORMS")
	if !all {
		return []string{r.args}
	}
	var lines []string
	for _, form := range registeredForms(t, r.command, strings.Contains(r.args, "--dry-run")) {
		lines = append(lines, before+"-o "+form+after)
	}
	return lines
}

// TestRegisteredForms: what a command says of its forms is what it takes.
func TestRegisteredForms(t *testing.T) {
	t.Parallel()
	if got := registeredForms(t, "plan", false); !slices.Equal(got, []string{"text", "json", "yaml", "markdown"}) {
		t.Errorf("plan has %q", got)
	}
	if got := registeredForms(t, "delete", false); !slices.Equal(got, []string{"text", "json"}) {
		t.Errorf("delete has %q", got)
	}
	if got := registeredForms(t, "delete", true); !slices.Equal(got, []string{"text", "json", "yaml", "markdown"}) {
		t.Errorf("delete --dry-run has %q", got)
	}
	if got := registeredForms(t, "build", false); !slices.Equal(got, []string{"text"}) {
		t.Errorf("build has %q", got)
	}
}

// keptAndPromoted applies once more, and searches what is promoted of that, and what is said of its records while they are moved to a
// directory and back, in each form and with each flag; the directory, too. Values are those of the canaries.
func (s *scene) keptAndPromoted(c canaries, quiet func(where, text string)) {
	s.t.Helper()
	s.namespace("production-eu")
	for _, name := range []string{"stored", "queried"} {
		s.admin("production-eu", http.MethodPost, "api/v1/namespaces/$NS/secrets", `{"metadata": {"name": "`+name+`"}, "stringData": {"token": "`+c.query+`"}}`)
	}
	s.env = append(s.env, "QUERIED="+c.query) // promote and lock ask no cluster for values
	s.runs(canaryPromotions, 0, quiet)
	shop := s.read("shop.cue")
	for _, form := range registeredForms(s.t, "release move", false) {
		for _, run := range canaryMoves {
			run.args += " -o " + form
			s.runs([]canaryRun{run}, 0, quiet)
			s.leftOnDisk(quiet)
		}
	}
	if s.read("shop.cue") != shop {
		s.t.Error("the bundle was written to")
	}
	if err := os.Remove(filepath.Join(s.dir, "hawser.lock")); err != nil { // what is promoted is pinned, and would change what follows
		s.t.Fatal(err)
	}
}

// outputs runs every command that shows something and checks what it prints. apply is among them. A later turn takes one form of each, another one every
// time, as all come of one value.
func (s *scene) outputs(turn int, quiet func(where, text string)) {
	s.t.Helper()
	s.runs(canaryRuns, turn, quiet)
}

// runs does the same of some commands.
func (s *scene) runs(commands []canaryRun, turn int, quiet func(where, text string)) {
	s.t.Helper()
	expand := strings.NewReplacer("$BUNDLE", s.bundle, "$FILES", "-f shop.cue --fleet fleet.cue --runtime-from-env", "$FLEET", "--fleet fleet.cue")
	for i, run := range commands {
		lines := run.lines(s.t)
		if turn > 0 {
			at := (i + turn) % len(lines)
			lines = lines[at : at+1]
		}
		for _, line := range lines {
			args := strings.Fields(run.command + " " + expand.Replace(line))
			r := s.want(run.code, args...)
			quiet("hawser "+strings.Join(args, " "), r.Stdout+r.Stderr)
			if file, ok := strings.CutPrefix(line, "$FILES --out "); ok {
				quiet("the file "+file, unpacked([]byte(s.read(file))))
			}
		}
	}
}
