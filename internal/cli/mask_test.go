package cli

import (
	"bytes"
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
