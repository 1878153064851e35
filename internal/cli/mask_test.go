package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/mask"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/report"
)

// The terminal is asked about below the mask, and what must be printed as it is goes there.
func TestMaskedApp(t *testing.T) {
	out, talk := new(bytes.Buffer), new(bytes.Buffer)
	a := &App{Out: out, Err: talk, Mask: redact.New("hunter2").Sweep, IsTerminal: func(stream any) bool { return stream == out }}
	m := a.masked()
	if !m.IsTerminal(m.Out) || m.IsTerminal(m.Err) || unmasked(m.Out) != out || unmasked(talk) != talk {
		t.Error("the streams below are not reached")
	}
	if (&App{}).masked().Mask != nil {
		t.Error("a mask from nowhere")
	}
}

// A credential that stands at the wrong place of a command line is in nothing that is said about it.
func TestCredentialsOfTheCommandLine(t *testing.T) {
	for _, args := range [][]string{{"plan", "-f", "x.yaml", "--creds", "https://ghcr.io=ada:hunter2-long"}, {"plan", "--creds==ada:hunter2-long"}, {"module", "pull", "--creds", "ghcr.io/org=ada:hunter2-long", "oci://x", "."},
		{"plan", "-f", "x.yaml", "--creds", "ghcr.io", "ada:hunter2-long"}, {"apply", "--creds", "ghcr.io", "ada:hunter2-long"}, {"module", "pull", "--creds", "ghcr.io", "ada:hunter2-long", "."},
		{"module", "--creds=ada:hunter2-long", "pull"}, {"ada:hunter2-long"}, {"plan", "-creds=ada:hunter2-long"}, {"registry", "login", "h.test", "-phunter2-long"}, {"plan", "ghp_hunter2longhunter2long"},
		{"history", "diff", "1", "2", "ada:hunter2-long"}, {"status", "--kube-tokn=hunter2-long"}, {"status", "--timeout", "https://ada:hunter2-long@h/x"}} {
		app := fakeApp()
		talk := new(bytes.Buffer)
		app.Out, app.Err, app.Mask = talk, talk, redact.New().Sweep
		app.Registries = func(creds string, _ bool) error {
			if strings.Contains(creds, "=ada") {
				return errors.New("what stands before the = is no HOST[:PORT]")
			}
			return nil
		}
		if code := app.Run(t.Context(), args); code == 0 || strings.Contains(talk.String(), "hunter2") {
			t.Errorf("%q: %d, %s", args, code, talk)
		}
	}
}

// What is printed shows no credential that was typed where a name is wanted, whatever the form: a bundle that is called so is in all of it.
func TestTypedCredentialsInOutput(t *testing.T) {
	for _, typed := range []string{"ghp_Zq12345678901234", "bob:hunter2!X9", "password=hunter2-x9"} {
		for _, command := range []string{"status", "drift", "history", "rollback --dry-run", "plan --group", "fleet check --cluster", "apply --dry-run --cluster", "list -l"} {
			if last := command[strings.LastIndex(command, " ")+1:]; strings.HasPrefix(typed, "bob:") && strings.HasPrefix(last, "-") && last != "--dry-run" {
				continue // what flags take may have a colon
			}
			for _, form := range []string{"text", "json", "yaml"} {
				app := fakeApp()
				out := new(bytes.Buffer)
				app.Out, app.Err, app.Mask = out, new(bytes.Buffer), redact.New().Sweep
				args := append(strings.Fields(command), typed)
				app.Run(t.Context(), append(args, "-o", form))
				if strings.Contains(out.String(), typed) || strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), "ghp_") {
					t.Errorf("%q -o %s: %s", args, form, out)
				}
			}
		}
	}
	app := fakeApp()
	app.Mask = redact.New().Sweep
	out := new(bytes.Buffer)
	s := &session{App: &App{Out: &mask.Writer{To: out, Mask: app.Mask}, Err: &mask.Writer{To: out, Mask: app.Mask}}}
	hide := func(text string) string { return strings.ReplaceAll(text, "ghp_x", "***") }
	s.hideArguments(hide, hide)
	if _ = report.Findings(s.Err, diag.Findings{{Code: "x", What: "no ghp_x", Pos: diag.Pos{File: "ghp_x", Line: 1}}}, report.Style{Width: 80}); strings.Contains(out.String(), "ghp_x") {
		t.Errorf("%s", out)
	}
	out.Reset()
	_, _ = io.WriteString(s.Out, "bundle ghp_x\n")
	_, _ = io.WriteString(maskedLike(s.Out, out), "of ghp_x\n")
	_, _ = io.WriteString(unmasked(s.Out), "document ghp_x\n")
	if got := out.String(); got != "bundle ***\nof ***\ndocument ghp_x\n" {
		t.Error(got)
	}
}
