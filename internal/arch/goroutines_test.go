package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// A goroutine is begun by broke, whose panics say their type and place: what Go's runtime prints of another one is what the panic
// said, and that may be made of secrets. exceptions.txt names the files that may, as "goroutines FILE".
func TestGoroutines(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		r, _, _ := h.roomOf(s.pkg)
		if s.test || r.test || s.pkg == "internal/broke" || !strings.HasPrefix(s.pkg, "internal/") && !strings.HasPrefix(s.pkg, "cmd/") {
			continue
		}
		for _, at := range s.goroutines() {
			if !h.excused("goroutines", s.path) {
				t.Errorf("%s:%d: a goroutine whose panics are printed as they are: begin it with broke.Go or a broke.Group", s.path, s.line(at.Pos()))
			}
		}
	}
}

// goroutines are the go statements of a file, and what begins some: wait groups of the standard library and of x/sync.
func (s *source) goroutines() []ast.Node {
	var out []ast.Node
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n, ok := n.(*ast.GoStmt); ok {
			out = append(out, n)
		}
		return true
	})
	pointed := s.pointedTo()
	for _, x := range s.selectors() {
		if !pointed[x.at] && (x.name == "sync.WaitGroup" || strings.HasPrefix(x.name, "golang.org/x/sync/errgroup.")) {
			out = append(out, x.at)
		}
	}
	return out
}
