package rights

import (
	"context"
	"testing"
)

// What a server's rules do not tell is asked for right by right; where any name would do, no name can be asked for, and it is not judged.
func TestAnyNameIsNotAskedFor(t *testing.T) {
	var asked []Right
	a := Asker{Known: func(context.Context, string) Known { return Known{} }, Allowed: func(_ context.Context, r Right) bool { asked = append(asked, r); return false }}
	one := Right{Verb: "get", Resource: "secrets", Namespace: "hawser-system", Name: AnyName}
	if missing, _ := a.Without(t.Context(), []Right{one}, nil); len(missing) != 0 || len(asked) != 1 || asked[0].Name != "" {
		t.Errorf("%v, asked %v", missing, asked)
	}
	one.Name = "hawser-1"
	if missing, _ := a.Without(t.Context(), []Right{one}, nil); len(missing) != 1 {
		t.Errorf("%v", missing)
	}
}
