package prompt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		reason, in string
		yes, typed bool
	}{
		{"y is yes", "y\n", true, false},
		{"yes in capitals too", "YES\n", true, false},
		{"spaces do not matter", "  y  \n", true, false},
		{"without a line end too", "y", true, false},
		{"enter alone is no", "\n", false, false},
		{"the end of the input is no", "", false, false},
		{"anything else is no", "yep\n", false, false},
		{"the name is no yes", "shop\n", false, true},
		{"another case is another name", "Shop\n", false, false},
		{"only the first line counts", "n\ny\n", false, false},
	} {
		var out bytes.Buffer
		yes, err := Prompter{strings.NewReader(c.in), &out}.Yes(t.Context(), "Apply?")
		if yes != c.yes || err != nil {
			t.Errorf("%s: yes = %v, %v", c.reason, yes, err)
		}
		if !strings.HasPrefix(out.String(), "Apply? [y/N] ") {
			t.Errorf("%s: asked %q", c.reason, out.String())
		}
		typed, err := Prompter{strings.NewReader(c.in), &out}.Typed(t.Context(), "This deletes.", "shop")
		if typed != c.typed || err != nil {
			t.Errorf("%s: typed = %v, %v", c.reason, typed, err)
		}
	}
}

// TestPromptInterrupted: an interrupt ends the question, though the read goes on.
func TestPromptInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	time.AfterFunc(10*time.Millisecond, cancel)
	if ok, err := (Prompter{in, io.Discard}).Yes(ctx, "?"); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", ok, err)
	}
}
