package health

import (
	"errors"
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestCut: what was cut off is told once, and of no object; what was refused is told of its object.
func TestCut(t *testing.T) {
	over := errors.New("over")
	for _, c := range []struct {
		n     int
		cause error
		want  string
	}{
		{0, over, ""}, {-1, over, ""}, {3, nil, ""},
		{1, over, "the time was over before one more object was looked at: over"},
		{3, over, "the time was over before 3 more objects were looked at: over"},
	} {
		got := ""
		for _, f := range Cut(c.n, c.cause) {
			if got += f.What + ": " + f.Why; f.Object != "" || f.Instance != "" {
				t.Errorf("%+v", f)
			}
		}
		if got != c.want {
			t.Errorf("%d, %v: %q", c.n, c.cause, got)
		}
	}
	if f := Unseen(object.Ref{Kind: "Service", Namespace: "n", Name: "web"}, "app", "forbidden"); f.Object != "Service n/web" || f.Instance != "app" || f.Why != "forbidden" {
		t.Errorf("%+v", f)
	}
}
