package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// door is something of the system that has one room for it.
type door struct {
	calls []string // PACKAGE.NAME
	room  string
	why   string
}

var doors = []door{
	{[]string{"os/exec.Command", "os/exec.CommandContext", "os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess"},
		"internal/child", "a program that hangs is ended there with all it started (ADR 18)"},
	{[]string{"os.ReadFile", "os.Open", "io.ReadAll", "io/ioutil.ReadAll", "io/ioutil.ReadFile"},
		"internal/rootfs", "ReadFile, OpenFile and ReadAll refuse what has no end and what never begins; io.ReadAll is for an io.LimitReader"},
	{[]string{"os.Stderr"}, "internal/terminal", "libraries print there what nobody asked for: terminal.Stderr is ours"},
	{[]string{"regexp.Compile", "regexp.CompilePOSIX", "regexp.Match", "regexp.MatchString", "regexp.MatchReader"},
		"internal/boundedregexp", "what is no MustCompile of ours comes from input, where a class of a megabyte takes minutes"},
	{[]string{"net/http.Client", "net/http.Transport", "net/http.DefaultClient", "net/http.DefaultTransport", "net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm"},
		"internal/httpclient", "one client for all that is fetched: deadlines, proxies, and what a redirect may not do; a pointer to a client may be held"},
}

// What needs care is done in one room: whoever else calls the standard library for it is told where. exceptions.txt names
// the files that may, as "doors FILE CALL".
func TestDoors(t *testing.T) {
	h := visit(t)
	for _, s := range h.sources(t) {
		r, _, _ := h.roomOf(s.pkg)
		if s.test || r.test || strings.HasPrefix(s.pkg, "internal/packaging/") {
			continue
		}
		free := s.limited()
		maps.Copy(free, s.pointedTo())
		for _, call := range s.selectors() {
			if free[call.at] {
				continue
			}
			for _, d := range doors {
				if slices.Contains(d.calls, call.name) && s.pkg != d.room && !h.excused("doors", s.path+" "+call.name) {
					t.Errorf("%s:%d: %s belongs to %s: %s", s.path, s.line(call.at.Pos()), call.name, d.room, d.why)
				}
			}
		}
	}
}

// limited are the calls of io.ReadAll on an io.LimitReader.
func (s *source) limited() map[ast.Node]bool {
	out := map[ast.Node]bool{}
	named := func(x ast.Expr, name string) (*ast.SelectorExpr, bool) {
		sel, ok := x.(*ast.SelectorExpr)
		return sel, ok && sel.Sel.Name == name
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
			if sel, ok := named(call.Fun, "ReadAll"); ok {
				if inner, ok := call.Args[0].(*ast.CallExpr); ok {
					_, limits := named(inner.Fun, "LimitReader")
					out[sel] = limits
				}
			}
		}
		return true
	})
	return out
}

// pointedTo are the types and variables behind a star: nothing is made there.
func (s *source) pointedTo() map[ast.Node]bool {
	out := map[ast.Node]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok {
			out[star.X] = true
		}
		return true
	})
	return out
}

// selector is PACKAGE.NAME in a file.
type selector struct {
	name string
	at   ast.Node
}

// selectors are the names of other packages that a file uses.
func (s *source) selectors() []selector {
	paths := map[string]string{}
	for _, i := range s.file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		paths[name] = path
	}
	var out []selector
	ast.Inspect(s.file, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := x.X.(*ast.Ident); ok && paths[id.Name] != "" && id.Obj == nil {
				out = append(out, selector{paths[id.Name] + "." + x.Sel.Name, x})
			}
		}
		return true
	})
	return out
}
