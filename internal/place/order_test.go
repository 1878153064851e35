package place

import (
	"slices"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

func TestOrder(t *testing.T) {
	bundle := func(name string, needs ...string) v1alpha1.BundleSpec {
		s := v1alpha1.BundleSpec{Name: name}
		for _, n := range needs {
			s.Requires = append(s.Requires, v1alpha1.Requires{Bundle: n})
		}
		return s
	}
	for name, c := range map[string]struct {
		specs []v1alpha1.BundleSpec
		want  []string
	}{
		"nothing":                      {nil, nil},
		"as they are given, each once": {[]v1alpha1.BundleSpec{bundle("b"), bundle("a"), bundle("b")}, []string{"b", "a"}},
		"after those it requires":      {[]v1alpha1.BundleSpec{bundle("web", "db"), bundle("db")}, []string{"db", "web"}},
		"one that is not among them":   {[]v1alpha1.BundleSpec{bundle("web", "elsewhere")}, []string{"web"}},
		"a circle is somebody else's":  {[]v1alpha1.BundleSpec{bundle("a", "b"), bundle("b", "a")}, []string{"a", "b"}},
		"without a name":               {[]v1alpha1.BundleSpec{bundle(""), bundle("a", "")}, []string{"a"}},
	} {
		if got := Order(c.specs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
