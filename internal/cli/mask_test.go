package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
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
