package arch

import "testing"

// A test that makes up its input takes its seed from testseed: CI begins elsewhere with every commit, and what fails says the seed
// that repeats it.
func TestSeeds(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		imports := map[string]bool{}
		for _, i := range s.file.Imports {
			imports[i.Path.Value] = true
		}
		if s.test && (imports[`"math/rand/v2"`] || imports[`"math/rand"`]) && !imports[`"`+modulePath+`/internal/testseed"`] && !h.excused("seeds", s.path) {
			t.Errorf("%s makes up its input with a seed of its own: take testseed.From(t)", s.path)
		}
	}
}
