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
		{"two - three", []string{"two", "three"}, "the next line is indented as a part of this item: begin it below the dash of this one"},
		{"zzz", many, "there is: " + strings.Join(many[:12], ", ") + " and 8 more"}} {
		if got := OneOf(c.name, c.of); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
