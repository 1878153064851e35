package diag

import (
	"fmt"
	"strings"
	"testing"
)

// What is near no name is answered with the names there are, a few of many.
func TestOneOf(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprint("name", i))
	}
	for _, c := range []struct {
		name string
		of   []string
		want string
	}{{"replcas", []string{"image", "replicas"}, `did you mean "replicas"?`}, {"zzz", []string{"image", "replicas"}, "there is: image, replicas"}, {"zzz", nil, ""},
		{"zzz", many, "there is: " + strings.Join(many[:12], ", ") + " and 8 more"}} {
		if got := OneOf(c.name, c.of); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
