package cli

import (
	"bytes"
	"os"
	"testing"
)

// TestNobodyListens: when a command is over nobody hears interrupts any more.
func TestNobodyListens(t *testing.T) {
	for range 200 {
		interrupts := make(chan os.Signal)
		a := &App{Out: new(bytes.Buffer), Err: new(bytes.Buffer), Signals: func() (<-chan os.Signal, func()) {
			return interrupts, func() {
				select {
				case interrupts <- os.Interrupt:
					t.Error("somebody listens")
				default:
				}
			}
		}}
		a.Run(t.Context(), []string{"version"})
	}
}
