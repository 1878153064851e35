package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "hawser.dev/hawser"

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath, Dir, Name, Doc         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
}

// room is a line of floors.txt.
type room struct {
	floor          int
	path           string // below the module
	test, reserved bool
	pure           bool
}

// house is everything the tests look at.
type house struct {
	root       string
	all        map[string]pkg // by import path, dependencies included
	ours       []pkg
	rooms      []room
	exceptions map[string]string // "rule subject" -> reason
	used       map[string]bool
}

// enter reads the house once.
var enter = sync.OnceValues(func() (*house, error) {
	h := &house{all: map[string]pkg{}, exceptions: map[string]string{}, used: map[string]bool{}}
	var err error
	if h.root, err = filepath.Abs("../.."); err != nil {
		return nil, err
	}
	if err := h.list(); err != nil {
		return nil, err
	}
	if err := h.readFloors(); err != nil {
		return nil, err
	}
	return h, h.readExceptions()
})

func visit(t *testing.T) *house {
	t.Helper()
	h, err := enter()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) list() error {
	cmd := exec.Command("go", "list", "-deps", "-test=false", "-json=ImportPath,Dir,Name,Doc,Standard,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = h.root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		h.all[p.ImportPath] = p
		if _, ok := ours(p.ImportPath); ok {
			h.ours = append(h.ours, p)
		}
	}
}

// ours returns the path of a package below the module.
func ours(importPath string) (string, bool) {
	path, ok := strings.CutPrefix(importPath, modulePath+"/")
	return path, ok
}

func (h *house) readFloors() error {
	return eachLine("floors.txt", func(line string) error {
		words := strings.Fields(line)
		floor, err := strconv.Atoi(words[0])
		if err != nil || len(words) < 2 || len(words) > 3 {
			return fmt.Errorf("floors.txt: %q", line)
		}
		r := room{floor: floor, path: words[1]}
		if len(words) == 3 {
			r.test, r.reserved, r.pure = words[2] == "test", words[2] == "reserved", words[2] == "pure"
			if !r.test && !r.reserved && !r.pure {
				return fmt.Errorf("floors.txt: %q", line)
			}
		}
		h.rooms = append(h.rooms, r)
		return nil
	})
}

func (h *house) readExceptions() error {
	return eachLine("exceptions.txt", func(line string) error {
		subject, reason, _ := strings.Cut(line, " | ")
		if strings.TrimSpace(reason) == "" {
			return fmt.Errorf("exceptions.txt: no reason: %q", line)
		}
		h.exceptions[subject] = reason
		return nil
	})
}

func eachLine(file string, do func(string) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := do(line); err != nil {
			return err
		}
	}
	return nil
}

// excused reports whether the exceptions let a subject off a rule.
func (h *house) excused(rule, subject string) bool {
	key := rule + " " + subject
	_, ok := h.exceptions[key]
	h.used[key] = h.used[key] || ok
	return ok
}

// roomOf returns the room of a package below the module, the deepest that holds it, and whether it is a leaf of it.
func (h *house) roomOf(path string) (r room, leaf, ok bool) {
	for _, candidate := range h.rooms {
		if path == candidate.path {
			return candidate, false, true
		}
		if strings.HasPrefix(path, candidate.path+"/") && len(candidate.path) > len(r.path) {
			r, leaf, ok = candidate, true, true
		}
	}
	return r, leaf, ok
}

// Every package is a room of floors.txt or a leaf of one, and every room that is not reserved exists.
func TestFloorsAreComplete(t *testing.T) {
	h := visit(t)
	exists := map[string]bool{}
	for _, p := range h.ours {
		path, _ := ours(p.ImportPath)
		exists[path] = true
		if _, _, ok := h.roomOf(path); !ok {
			t.Errorf("%s stands on no floor: add it to floors.txt", path)
		}
	}
	for _, r := range h.rooms {
		if _, err := os.Stat(filepath.Join(h.root, r.path)); (err == nil) == r.reserved {
			t.Errorf("floors.txt: %s is reserved (%t) and exists (%t)", r.path, r.reserved, err == nil)
		}
	}
	seen := map[string]bool{}
	for _, r := range h.rooms {
		if seen[r.path] {
			t.Errorf("floors.txt: %s twice", r.path)
		}
		seen[r.path] = true
	}
}

// A room imports lower floors alone; tests may import their own floor, leaves and test rooms besides.
func TestFloors(t *testing.T) {
	h := visit(t)
	for _, p := range h.ours {
		path, _ := ours(p.ImportPath)
		from, leaf, _ := h.roomOf(path)
		for _, imported := range p.Imports {
			if why := h.mayImport(from, leaf, path, imported); why != "" {
				t.Errorf("%s imports %s: %s", path, strings.TrimPrefix(imported, modulePath+"/"), why)
			}
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			name, ok := ours(imported)
			to, _, _ := h.roomOf(name)
			if ok && !to.test && !from.test && to.floor > from.floor {
				t.Errorf("tests of %s (floor %d) import %s (floor %d): a test may not look upwards", path, from.floor, name, to.floor)
			}
		}
	}
}

// mayImport returns why an import is not allowed, "" when it is.
func (h *house) mayImport(from room, leaf bool, path, imported string) string {
	name, ok := ours(imported)
	if !ok {
		return ""
	}
	to, toLeaf, _ := h.roomOf(name)
	switch {
	case name == path:
		return ""
	case to.test:
		if from.test {
			return ""
		}
		return to.path + " is for tests alone"
	case from.test:
		return ""
	case toLeaf && to.path == from.path && leaf:
		return "leaves of one room do not know each other"
	case toLeaf:
		if path == "cmd/hawser" {
			return "" // which file is TestLeaves' to say
		}
		return "leaves are imported by cmd/hawser/wiring.go alone"
	case leaf && to.path == from.path:
		return ""
	case to.floor < from.floor:
		return ""
	case to.floor == from.floor:
		return fmt.Sprintf("both are on floor %d, and rooms of a floor do not know each other", to.floor)
	}
	return fmt.Sprintf("floor %d is above floor %d", to.floor, from.floor)
}

// forbidden are what pure rooms must not be able to reach.
func forbidden(importPath string) bool {
	return importPath == "net/http" || importPath == "os/exec" || importPath == "k8s.io/client-go" ||
		strings.HasPrefix(importPath, "k8s.io/client-go/")
}

// Floors 0 to 3 decide, they do not do: neither they nor what they import can reach the network, processes or a
// cluster, save through the packages that exceptions.txt names.
func TestPurity(t *testing.T) {
	h := visit(t)
	for _, p := range h.ours {
		path, _ := ours(p.ImportPath)
		r, leaf, _ := h.roomOf(path)
		if leaf || r.test || r.floor > 3 {
			continue
		}
		if way := h.wayOut(p); way != nil {
			t.Errorf("%s (floor %d) reaches %s: %s", path, r.floor, way[len(way)-1], strings.Join(way, " -> "))
		}
	}
}

// The documents' types are plain data: neither they nor what they import know CUE. Rooms that take values as data do not import it
// themselves.
func TestPlainData(t *testing.T) {
	h := visit(t)
	isCUE := func(importPath string) bool { return strings.HasPrefix(importPath, "cuelang.org/") }
	plain := []string{"internal/engine", "internal/place", "internal/promotion", "internal/wire", "internal/isolate", "internal/validation", "internal/madeguard"}
	for _, p := range h.ours {
		path, _ := ours(p.ImportPath)
		for _, i := range p.Imports {
			if path == "api/v1alpha1" && !h.all[i].Standard || slices.Contains(plain, path) && isCUE(i) {
				t.Errorf("%s imports %s", path, i)
			}
		}
	}
}

// wayOut is the shortest chain of imports from a package to something forbidden, nil when there is none.
func (h *house) wayOut(p pkg) []string {
	from := map[string]string{p.ImportPath: ""}
	for todo := []string{p.ImportPath}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if forbidden(at) {
			var way []string
			for ; at != ""; at = from[at] {
				way = append(way, at)
			}
			slices.Reverse(way)
			return way
		}
		if h.all[at].Standard || h.carrier(at) {
			continue // the standard library is judged by what is imported of it, not by what it imports
		}
		for _, next := range h.all[at].Imports {
			if _, seen := from[next]; !seen {
				from[next] = at
				todo = append(todo, next)
			}
		}
	}
	return nil
}

func (h *house) carrier(importPath string) bool {
	for key := range h.exceptions {
		module, ok := strings.CutPrefix(key, "purity via ")
		if ok && (importPath == module || strings.HasPrefix(importPath, module+"/")) && !forbidden(importPath) {
			return h.excused("purity via", module)
		}
	}
	return false
}
