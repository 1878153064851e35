package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What a pure room must not touch: packages, rooms of ours that do it for others, and calls.
var (
	impurePackages = []string{"os", "os/exec", "os/signal", "os/user", "syscall", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand",
		modulePath + "/internal/rootfs", modulePath + "/internal/nofollow", modulePath + "/internal/child", modulePath + "/internal/httpclient", modulePath + "/internal/localprocess"}
	impureCalls = []string{"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
		"time.Sleep", "context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause", "path/filepath.Abs",
		"path/filepath.EvalSymlinks", "path/filepath.Glob", "path/filepath.Walk", "path/filepath.WalkDir"}
)

// impure says what of a file looks at a clock, chance or the system, by whatever name it imports it.
func (s *source) impure() []string {
	var out []string
	for _, i := range s.file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if slices.Contains(impurePackages, path) || strings.HasPrefix(path, "k8s.io/client-go/") || strings.HasPrefix(path, "golang.org/x/sys/") {
			out = append(out, fmt.Sprintf("%s imports %s", s.path, path))
		}
	}
	for _, call := range s.selectors() {
		if slices.Contains(impureCalls, call.name) {
			out = append(out, fmt.Sprintf("%s:%d: %s", s.path, s.line(call.at.Pos()), call.name))
		}
	}
	return out
}

// Rooms that floors.txt calls pure are functions of values: they look at no clock, environment, file, network or chance; time and
// what is read are handed in. A room that is so in fact is called so, that it stays so.
func TestNoClock(t *testing.T) {
	h := visit(t)
	found := map[string][]string{}
	for _, s := range h.sources(t) {
		if !s.test {
			found[s.pkg] = append(found[s.pkg], s.impure()...)
		}
	}
	for _, r := range h.rooms {
		switch {
		case r.pure:
			for _, what := range found[r.path] {
				t.Errorf("%s: %s is pure (floors.txt): have it handed in", what, r.path)
			}
		case !r.test && !r.reserved && len(found[r.path]) == 0:
			t.Errorf("floors.txt: %s is pure in fact: write \"%d %s pure\"", r.path, r.floor, r.path)
		}
	}
}
