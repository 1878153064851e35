package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/testseed"
	"hawser.dev/hawser/internal/testserver"
)

// hostileFiles are a bundle, its fleet, and the fleet without the cluster. What is delivered first has "one" for "two"
// and an object more.
const hostileFiles = `
-- b.yaml --
bundle:
  apiVersion: v1alpha1
  name: hostile
  instances:
    all: {manifests: {paths: [./m]}, namespace: default}
-- m/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {v: "two"}
-- m/b.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {v: "two"}
-- m/s.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: canary-in-a-body-two}
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: hostile
  clusters:
    rogue: {kubeContext: test}
  values:
    - {query: "k8s:v1:Secret:default:queried", for: {QUERIED: obj.data.key}}
-- apart.yaml --
fleet:
  apiVersion: v1alpha1
  name: hostile
  clusters: {rogue: {kubeContext: test}}
  releases: {store: {file: {path: ./records}}}
-- left.yaml --
fleet:
  apiVersion: v1alpha1
  name: hostile
  clusters:
    other: {kubeContext: elsewhere}
`

// hostileVerbs are the command lines of every verb that talks to clusters; CONFIG is added. writes: what the server has
// at the end of a success is checked.
var hostileVerbs = map[string]struct {
	lines  []string
	writes string
}{
	"plan":         {lines: []string{"plan -f b.yaml --fleet fleet.yaml --full", "plan -f b.yaml --fleet fleet.yaml --out new.plan --server-check -o json"}},
	"apply":        {lines: []string{"apply -y -f b.yaml --fleet fleet.yaml --timeout 10s", "apply shop.plan -y --timeout 10s -o json"}, writes: "two"},
	"delete":       {lines: []string{"delete hostile -y --fleet fleet.yaml --timeout 10s"}, writes: "nothing"},
	"approve":      {lines: []string{"approve hostile -y --fleet fleet.yaml"}},
	"pause":        {lines: []string{"pause hostile --fleet fleet.yaml -o json"}},
	"resume":       {lines: []string{"resume hostile --fleet fleet.yaml"}},
	"abort":        {lines: []string{"abort hostile -y --fleet fleet.yaml"}},
	"eject":        {lines: []string{"eject hostile -y --fleet fleet.yaml", "eject hostile -y --fleet fleet.yaml -o json"}},
	"rollback":     {lines: []string{"rollback hostile --to 1 -y --fleet fleet.yaml --timeout 10s"}},
	"drift":        {lines: []string{"drift hostile --fleet fleet.yaml", "drift hostile --correct -y --fleet fleet.yaml --timeout 10s -o json"}},
	"promote":      {lines: []string{"promote hostile --from rogue --fleet fleet.yaml --to other --to-fleet left.yaml -f b.yaml --dry-run"}},
	"release move": {lines: []string{"release move hostile -y --fleet apart.yaml"}}, "release unlock": {lines: []string{"release unlock hostile -y --fleet fleet.yaml"}},
	"status":            {lines: []string{"status hostile --fleet fleet.yaml", "status -f b.yaml --fleet fleet.yaml -o json"}},
	"diff":              {lines: []string{"diff -f b.yaml --fleet fleet.yaml"}},
	"vet":               {lines: []string{"vet -f b.yaml --fleet fleet.yaml"}},
	"build":             {lines: []string{"build -f b.yaml --fleet fleet.yaml --mask-secrets"}},
	"fleet check":       {lines: []string{"fleet check -r fleet.yaml -f b.yaml"}},
	"fleet values":      {lines: []string{"fleet values -r fleet.yaml"}},
	"fleet snapshot":    {lines: []string{"fleet snapshot -r fleet.yaml"}},
	"fleet retire":      {lines: []string{"fleet retire rogue --delete -y -f b.yaml -r left.yaml --timeout 10s"}, writes: "nothing"},
	"bundle apply":      {lines: []string{"bundle apply -y -f b.yaml -r fleet.yaml --timeout 10s"}, writes: "two"},
	"bundle build":      {lines: []string{"bundle build -f b.yaml -r fleet.yaml --mask-secrets"}},
	"bundle delete":     {lines: []string{"bundle delete hostile -y -r fleet.yaml --timeout 10s"}, writes: "nothing"},
	"bundle status":     {lines: []string{"bundle status hostile -r fleet.yaml"}},
	"bundle vet":        {lines: []string{"bundle vet -f b.yaml -r fleet.yaml"}},
	"list":              {lines: []string{"list --fleet fleet.yaml", "list --bundle hostile --fleet fleet.yaml -o json"}},
	"inspect module":    {lines: []string{"inspect module all --fleet fleet.yaml"}},
	"inspect values":    {lines: []string{"inspect values all --fleet fleet.yaml"}},
	"inspect resources": {lines: []string{"inspect resources all --fleet fleet.yaml -o json"}},
	"history":           {lines: []string{"history --fleet fleet.yaml"}}, "history show": {lines: []string{"history show 1 --fleet fleet.yaml -o json"}}, "history diff": {lines: []string{"history diff 1 1 --fleet fleet.yaml --full"}},
	"runtime build": {lines: []string{"runtime build -f fleet.yaml"}},
}

// quietVerbs take the flags of access and contact nobody.
var quietVerbs = map[string]string{
	"lock":     "lock -f b.yaml",
	"fleet ls": "fleet ls -r fleet.yaml",
}

// hostileRig is a good server on which the bundle was delivered, and the directory from which it was.
type hostileRig struct {
	t     *testing.T
	good  *testserver.Server
	files map[string]string
	verbs []hostileLine
	// configs are the kubeconfigs by server.
	configs sync.Map
	// met is how many hostile answers a line had, by the line and what they were answers to.
	met sync.Map
}

type hostileLine struct {
	verb, line, writes string
}

// newHostileRig walks the command tree: a verb that talks to clusters is in, or the test says what to add.
func newHostileRig(t *testing.T) *hostileRig {
	t.Helper()
	state := t.TempDir()
	t.Setenv("HAWSER_CACHE_DIR", filepath.Join(state, "cache"))
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("CI", "")
	rig := &hostileRig{t: t, good: testserver.Start(t), files: map[string]string{}}
	for _, verb := range slices.Sorted(maps.Keys(app().Verbs())) {
		talks := slices.Contains(app().Verbs()[verb], "kube-context")
		known, ok := hostileVerbs[verb]
		switch {
		case talks && !ok && quietVerbs[verb] == "":
			t.Errorf("hawser %s takes --kube-context, so it talks to clusters: add its command lines to hostileVerbs, or to quietVerbs when it contacts nobody", verb)
		case !talks && ok:
			t.Errorf("hawser %s does not take --kube-context any more: take it out of hostileVerbs", verb)
		}
		for _, line := range known.lines {
			rig.verbs = append(rig.verbs, hostileLine{verb, line, known.writes})
		}
	}
	for verb := range maps.Keys(quietVerbs) {
		if _, ok := app().Verbs()[verb]; !ok {
			t.Errorf("quietVerbs has %s, which is no verb", verb)
		}
	}
	rig.deliver()
	return rig
}

// deliver installs the bundle and keeps the directory's files as they are then.
func (rig *hostileRig) deliver() {
	rig.t.Helper()
	rig.good.Put("/api/v1/namespaces/default/secrets/queried", map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "queried"}, "data": map[string]any{"key": "Y2FuYXJ5LXF1ZXJpZWQ="}})
	for _, f := range txtar.Parse([]byte(hostileFiles)).Files {
		rig.files[f.Name] = strings.ReplaceAll(string(f.Data), "two", "one")
	}
	rig.files["m/gone.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n"
	dir := rig.dir()
	rig.must(rig.good, dir, "apply -y -f b.yaml --fleet fleet.yaml --timeout 20s")
	if rig.good.Object("/api/v1/namespaces/default/configmaps/gone") == nil {
		rig.t.Fatal("the bundle was not delivered")
	}
	for _, f := range txtar.Parse([]byte(hostileFiles)).Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			rig.t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "m/gone.yaml")); err != nil {
		rig.t.Fatal(err)
	}
	clear(rig.files)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		rig.files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		rig.t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil { // the same bundle goes on from elsewhere
		rig.t.Fatal(err)
	}
}

// ready is a server of its own for a line, and a directory with what the line needs.
func (rig *hostileRig) ready(c hostileLine) (srv *testserver.Server, dir string) {
	rig.t.Helper()
	srv, dir = rig.good.Clone(rig.t), rig.dir()
	if strings.Contains(c.line, "shop.plan") {
		rig.must(srv, dir, "plan -f b.yaml --fleet fleet.yaml --out shop.plan")
	}
	return srv, dir
}

func (rig *hostileRig) must(srv *testserver.Server, dir, line string) {
	rig.t.Helper()
	run := rig.start(srv, dir, line)
	if code := <-run.done; code != 0 {
		rig.t.Fatalf("%s: exit %d\n%s", line, code, run.out.String())
	}
}

// dir is a new directory with the files.
func (rig *hostileRig) dir() string {
	rig.t.Helper()
	dir := rig.t.TempDir()
	for name, text := range rig.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			rig.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			rig.t.Fatal(err)
		}
	}
	return dir
}

// hostileRun is a command line under way in this process.
type hostileRun struct {
	out       *lockedBuffer
	done      chan int
	interrupt chan os.Signal
}

// lockedBuffer is written by a run and by what it leaves behind.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs a command line against a server, in this process and in a directory.
func (rig *hostileRig) start(srv *testserver.Server, dir, line string) *hostileRun {
	args := strings.Fields(line)
	for i, a := range args {
		if strings.HasSuffix(a, ".yaml") || strings.HasSuffix(a, ".plan") {
			args[i] = filepath.Join(dir, a)
		}
	}
	run := &hostileRun{out: &lockedBuffer{}, done: make(chan int, 1), interrupt: make(chan os.Signal, 2)}
	a := app()
	a.In, a.Out, a.Err = strings.NewReader(""), run.out, run.out
	a.Signals = func() (<-chan os.Signal, func()) { return run.interrupt, func() {} }
	a.IsTerminal = func(any) bool { return false }
	config, ok := rig.configs.Load(srv)
	if !ok {
		config = srv.Kubeconfig(rig.t, func(c *clientcmdapi.Config) {
			c.Clusters["elsewhere"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
			c.Contexts["elsewhere"] = &clientcmdapi.Context{Cluster: "elsewhere", AuthInfo: "test"}
		})
		rig.configs.Store(srv, config)
	}
	args = append(args, "--kubeconfig", config.(string))
	go func() {
		defer func() {
			if p := recover(); p != nil {
				fmt.Fprintf(run.out, "panic: %v", p)
				run.done <- -1
			}
		}()
		run.done <- a.Run(context.Background(), args)
	}()
	return run
}

// hostileCase is one line against one server.
type hostileCase struct {
	hostileLine
	fault string
	// when is what hurts.
	when func(r *http.Request) bool
	do   testserver.Fault
	// of makes the fault of the server, where do is nil.
	of func(*testserver.Server) testserver.Fault
	// heals: without the fault the same line succeeds afterwards. meets: the line has to ask for what hurts.
	heals, meets bool
}

// judge runs a case: an end in time, with an exit code that tells the truth, an error that names the server, and nothing
// said that must not be.
func (rig *hostileRig) judge(c hostileCase) {
	rig.t.Helper()
	srv, dir := rig.ready(c.hostileLine)
	fault, hurt := c.do, new(atomic.Int64)
	if fault == nil {
		fault = c.of(srv)
	}
	srv.Fault(testserver.Before(c.when, func(w http.ResponseWriter, r *http.Request) bool {
		hurt.Add(1)
		return fault(w, r)
	}))
	start := time.Now()
	run := rig.start(srv, dir, c.line)
	var code int
	select {
	case code = <-run.done:
	case <-time.After(10 * time.Minute):
		rig.t.Errorf("%s: %s: no end in ten minutes\n%.2000s", c.fault, c.line, run.out.String())
		return
	}
	out := run.out.String()
	bad := func(what string) {
		rig.t.Errorf("%s: %s: %s (exit %d after %s)\n%.3000s", c.fault, c.line, what, code, time.Since(start).Round(time.Millisecond), out)
	}
	rig.meets(c, hurt.Load())
	truth := c.writes == "" || rig.delivered(srv) == c.writes
	switch {
	case code == 0 && !truth:
		bad("success, and the cluster has " + rig.delivered(srv))
	case code != 0 && hurt.Load() == 0:
		bad("nothing was wrong")
	case hurt.Load() == 0 && c.meets:
		bad("never met the answer")
	case code == 0 && c.writes == "" && hurt.Load() > 0 && !rightInItself[c.fault]:
		bad("takes the answer for one, and says that all is well")
	case !slices.Contains([]int{0, 1, 3, 4, 5}, code) && !(code == 2 && (c.verb == "diff" || c.verb == "drift")) || strings.Contains(out, "goroutine ") || strings.Contains(out, "panic"):
		bad("no proper end")
	case code != 0 && !strings.Contains(out, strings.TrimPrefix(srv.URL, "https://")) && !strings.Contains(out, "rogue"):
		bad("names no server")
	case strings.Contains(out, "canary-") || strings.Contains(out, "Y2FuYXJ5"): // in base64; the JSON of a schedule has the word
		bad("says what it must not")
	case strings.HasPrefix(c.fault, "redirect") && !strings.Contains(out, "never followed") && code != 0:
		bad("does not say why")
	}
	if code == 0 || !c.heals {
		return
	}
	srv.Fault(nil)
	run = rig.start(srv, dir, c.line)
	if code, out = <-run.done, run.out.String(); code != 0 || rig.delivered(srv) != c.writes {
		bad("does not heal: the cluster has " + rig.delivered(srv))
	}
}

// TestHostileServer: no verb of the command tree believes a hostile server, sends anything elsewhere, says what it must
// not, panics, hangs, goes on after Ctrl-C, calls half a work a success, or takes for ever, or more than 1 GiB. Each verb meets a third
// of the kinds of answers, and each kind a third of the verbs, others with every commit; HAWSER_TEST_HOSTILE=all tries all.
func TestHostileServer(t *testing.T) {
	if runsApart(t) {
		return
	}
	rig := newHostileRig(t)
	// Several verbs share this heap: what none of them holds any more is collected before it counts.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(640 << 20))
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q was sent elsewhere", r.Method, r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	requestLimit = 2 * time.Second
	t.Cleanup(func() { requestLimit = 0 })
	var cases []hostileCase
	connected := func(r *http.Request) bool { return !testserver.Connecting(r) }
	object := testserver.Writing("configmaps", "secrets")
	written := func(r *http.Request) bool { return object(r) && strings.Contains(r.URL.Path, "/namespaces/default/") }
	faults := testserver.Hostile(other.URL)
	faults["cut"] = testserver.Cut
	costly, seed, all := 0, testseed.From(t), os.Getenv("HAWSER_TEST_HOSTILE") == "all"
	for nth, name := range slices.Sorted(maps.Keys(faults)) {
		fault, big := faults[name], strings.HasPrefix(name, "bomb") || strings.HasPrefix(name, "endless")
		if big {
			costly++
		}
		for i, line := range rig.verbs {
			// Each of those against some verbs, and each verb against the one whose turn it is: what an answer may hold is bounded
			// in one place, whatever asks.
			third := func(turn uint64) bool { return all || (uint64(i+nth)+seed+turn)%3 == 0 }
			if big && (i+costly)%8 == 0 || !big && third(0) {
				cases = append(cases, hostileCase{line, name, connected, fault, nil, false, true})
			}
			if line.writes == "" || big {
				continue
			}
			heals := !strings.Contains(line.line, "shop.plan")
			for turn, c := range []hostileCase{
				{line, name + ", once connected, to writes", testserver.Writing(), fault, nil, false, false},
				{line, name + ", to objects", written, fault, nil, heals, false},
				{line, name + ", after the work was done", written, nil, func(s *testserver.Server) testserver.Fault { return s.Lost(fault) }, heals, false},
			} {
				if third(uint64(turn)) {
					cases = append(cases, c)
				}
			}
		}
	}
	if costly != 8 {
		t.Errorf("%d kinds of answers are big: each verb has its turn with one of 8", costly)
	}
	for _, line := range rig.verbs {
		cases = append(cases, hostileCase{line, "redirect at once", func(*http.Request) bool { return true }, testserver.Redirect(307, other.URL), nil, false, true},
			hostileCase{line, "other UIDs", connected, nil, (*testserver.Server).OtherUIDs, false, true},
			hostileCase{line, "another cluster", func(*http.Request) bool { return true }, nil, (*testserver.Server).OtherUIDs, false, true})
	}
	var wg sync.WaitGroup
	wg.Go(rig.slow) // that is waiting
	rig.contactNobody()
	rig.all(6, cases)
	wg.Wait()
	rig.everyLineMet()
}

// all judges cases, so many at a time, and looks at memory meanwhile.
func (rig *hostileRig) all(atOnce int, cases []hostileCase) {
	rig.t.Helper()
	queue := make(chan hostileCase)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for c := range queue {
				rig.judge(c)
			}
		})
	}
	most := uint64(0)
	for _, c := range cases {
		queue <- c
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
	}
	close(queue)
	wg.Wait()
	if most > 1<<30 {
		rig.t.Errorf("%d MiB were in use", most>>20)
	}
}
