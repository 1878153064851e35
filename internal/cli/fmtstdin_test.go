package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
)

// TestFormattedIsNotScreened: what fmt writes for standard input is the document, also where it looks like an order to a
// terminal or a CI system.
func TestFormattedIsNotScreened(t *testing.T) {
	const text = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a:\n      values:\n        run: |\n          ::error::x\n          \u202ebidi\n"
	out := new(bytes.Buffer)
	a := &App{In: strings.NewReader(text), Out: out, Err: new(bytes.Buffer), Mask: redact.New("hunter2").Sweep}
	if code := a.Run(context.Background(), []string{"fmt", "-"}); code != 0 || out.String() != text {
		t.Errorf("exit %d:\n%q", code, out)
	}
}
