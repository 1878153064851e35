//go:build unix

package isolate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/testseed"
	"hawser.dev/hawser/internal/wire"
)

// asChild and asParent make the test binary a child, and a parent that is killed.
const (
	asChild  = "as-child"
	asParent = "as-parent"
)

func TestMain(m *testing.M) {
	switch {
	case slices.Contains(os.Args[1:], asChild):
		out := os.Stdout
		os.Stdout = os.Stderr
		os.Exit(Serve(Child{In: os.Stdin, Out: out, Build: os.Getenv("BUILD"), Sockets: func(h Host) Sockets {
			return Sockets{Renderers: map[string]render.Renderer{"test": double{h, out}}, Checker: doubleChecker{}, GoesOn: goesOn}
		}}))
	case slices.Contains(os.Args[1:], asParent):
		parent()
	default:
		os.Exit(m.Run())
	}
}

// double is a renderer that does what the instance's name says.
type double struct {
	host Host
	out  *os.File
}

func (double) Name() string { return "test" }

func (d double) Key(_ context.Context, req render.Request) (string, error) {
	return "key of " + req.Instance.Name, nil
}

func (double) Makes(_ context.Context, req render.Request) bool { return req.Instance.Name == "ok" }

func (double) Default(_ context.Context, req render.Request, path v1alpha1.Path) (*v1alpha1.Value, diag.Pos) {
	return &v1alpha1.Value{Kind: v1alpha1.KindString, Text: path.String()}, diag.Pos{File: req.Instance.Name, Line: 3}
}

// nowhere keeps what a runaway makes.
var nowhere [][]byte

func deeper(n int) int {
	var room [1024]byte
	room[n%1024] = byte(n)
	return deeper(n+1) + int(room[(n+1)%1024]) //lint:ignore SA5007 it is to run out of stack
}

func (d double) Render(_ context.Context, req render.Request) (render.Result, error) {
	defer d.host.Watchdog.Enter("instance " + req.Instance.Name)()
	res := render.Result{Version: "1", Objects: []object.Object{{Body: map[string]any{"kind": "ConfigMap", "n": int64(3), "f": 1.5, "env": strings.Join(os.Environ(), "\n"), "pid": int64(os.Getpid())},
		Hook: &object.Hook{Events: []object.HookPhase{object.Test}, Weight: -2}, Pos: diag.Pos{File: "a", Line: 1}}}}
	switch req.Instance.Name {
	case "loop":
		for i := 0; ; i++ {
			runtime.Gosched()
		}
	case "memory":
		for {
			b := make([]byte, 16<<20)
			for i := range b {
				b[i] = 1
			}
			nowhere = append(nowhere, b)
		}
	case "at once":
		b := make([]byte, 64<<30)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
	case "deep":
		return res, fmt.Errorf("%d", deeper(0))
	case "panic":
		panic("the password is hunter2")
	case "garbage":
		_, _ = d.out.WriteString("this is no answer, and it has hunter2 in it")
	case "wrong":
		_, _ = d.out.Write([]byte{0, 0, 0, 2, byte(kindAnswer), 1, 2})
	case "endless":
		_, _ = d.out.Write([]byte{0xff, 0xff, 0xff, 0xff, byte(kindAnswer)})
		for {
			_, _ = d.out.Write(make([]byte, 1<<20))
		}
	case "nothing":
		os.Exit(0)
	case "printed":
		fmt.Fprintln(os.Stderr, "hunter2")
		os.Exit(3)
	case "killed":
		_ = kill(os.Getpid())
		time.Sleep(time.Hour)
	case "stopped":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "finding":
		f := diag.Errorf("wrong", "%s is wrong", d.host.Redact("hunter2"))
		f.Pos = diag.Pos{File: "b.yaml", Line: 2}
		return res, diag.Findings{f}.Err()
	case "error":
		return res, errors.New("just wrong")
	case "made":
		b := make([]byte, maxRandom+10)
		req.Chance.Read(b)
		res.Digest = fmt.Sprint(b[0], b[maxRandom+9], req.Chance.ID, req.Chance.Now().UnixNano())
	}
	d.host.Learn(req.Instance.Name, "learned")
	return res, nil
}

// doubleChecker judges as the rule's source says.
type doubleChecker struct{}

var given bool

func goesOn() bool { return given }

func (doubleChecker) Vet(c health.Check) error {
	if c.Name == "loop" {
		for i := 0; ; i++ {
			runtime.Gosched()
		}
	}
	return errors.New("cannot work")
}

func (c doubleChecker) Check(rule health.Check, obj map[string]any) (health.Status, bool, error) {
	switch rule.Name {
	case "loop":
		_ = c.Vet(rule)
	case "given up":
		given = true
		return health.Status{}, true, errors.New("given up")
	case "error":
		return health.Status{}, true, errors.New("does not fit")
	case "other":
		return health.Status{}, false, nil
	}
	return slowly(rule, health.Status{State: health.Ready, Reason: fmt.Sprint(obj["x"]), Details: []string{"a"}})
}

// pool is one of the test binary.
func pool(t *testing.T, change func(*Options)) *Pool {
	t.Helper()
	o := Options{Command: []string{self(t), asChild}, Build: "b", Environment: []string{"BUILD=b"}, Limits: cuelang.WatchLimits{Deadline: time.Minute, HeapBytes: 4 << 30, OwnBytes: 300 << 20}}
	if change != nil {
		change(&o)
	}
	p := New(o)
	t.Cleanup(p.Close)
	return p
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func renderers(p *Pool) render.Renderer {
	return p.Renderers(map[string]render.Renderer{"test": double{}})["test"]
}

func of(name string) render.Request {
	return render.Request{Instance: v1alpha1.Instance{Name: name}}
}

// TestAnswers: what the renderer says comes out as it said it, errors of both kinds included; what is secret is asked of the
// parent, and what is made up is made there.
func TestAnswers(t *testing.T) {
	var learned []string
	p := pool(t, func(o *Options) {
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
		o.Learn = func(instance, value string) { learned = append(learned, instance+" "+value) }
	})
	p.Warm()
	r := renderers(p)
	res, err := r.Render(t.Context(), of("ok"))
	if err != nil || res.Version != "1" || res.Objects[0].Body["n"] != int64(3) || res.Objects[0].Hook.Weight != -2 || res.Objects[0].Pos.Line != 1 || !slices.Equal(learned, []string{"ok learned"}) {
		t.Errorf("%+v %v %v", res, err, learned)
	}
	_, err = r.Render(t.Context(), of("finding"))
	found, ok := errors.AsType[*diag.FindingsError](err)
	if !ok || len(found.Findings) != 1 || found.Findings[0].String() != "b.yaml:2: *** is wrong" {
		t.Errorf("%#v", err)
	}
	if res, err := r.Render(t.Context(), of("error")); err == nil || err.Error() != "just wrong" || res.Version != "1" {
		t.Errorf("%#v %v", err, res)
	}
	made := of("made")
	made.Chance = &chance.Source{ID: "id", Now: func() time.Time { return time.Unix(0, 17) }, Read: func(b []byte) {
		for i := range b {
			b[i] = byte(len(b))
		}
	}}
	if res, err := r.Render(t.Context(), made); err != nil || res.Digest != "0 10id17" {
		t.Errorf("%v %v", res.Digest, err)
	}
	if key, err := r.Key(t.Context(), of("ok")); key != "key of ok" || err != nil {
		t.Error(key, err)
	}
	if m, ok := r.(render.Maker); !ok || !m.Makes(t.Context(), of("ok")) || m.Makes(t.Context(), of("other")) {
		t.Error("it does not make")
	}
	x, pos := r.(render.Defaulter).Default(t.Context(), of("ok"), v1alpha1.Path{{Name: "a"}, {Name: "0", Index: true}})
	if text, _ := x.Str(); text != "a[0]" || pos != (diag.Pos{File: "ok", Line: 3}) {
		t.Error(text, pos)
	}
}

// TestEnvironment: a child has nothing of the parent's environment, and all questions go to one child where none waits.
func TestEnvironment(t *testing.T) {
	t.Setenv("KUBECONFIG", "/secret/kubeconfig")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	p := pool(t, nil)
	var pids []any
	for range 3 {
		res, err := renderers(p).Render(t.Context(), of("ok"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(res.Objects[0].Body["env"].(string)) {
			if name, _, _ := strings.Cut(line, "="); !slices.Contains([]string{"TZ", "ZONEINFO", "PWD", "BUILD", "SYSTEMROOT"}, name) {
				t.Errorf("the child has %s", line)
			}
		}
		pids = append(pids, res.Objects[0].Body["pid"])
	}
	if pids[0] != pids[1] || pids[0] != pids[2] || pids[0] == int64(os.Getpid()) {
		t.Error(pids)
	}
}

// TestEnds: what ends a child is a finding of its question alone, whose text holds nothing that the child printed; the next
// question is answered.
func TestEnds(t *testing.T) {
	for name, want := range map[string]string{
		"loop": CodeTooLong, "memory": CodeTooLarge, "at once": CodeTooLarge, "deep": CodeTooDeep, "panic": "renderer-broke", "garbage": CodeBroke, "wrong": CodeBroke,
		"endless": CodeBroke, "nothing": CodeBroke, "printed": CodeBroke, "killed": CodeKilled,
	} {
		if runtime.GOOS != "linux" && name == "at once" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := pool(t, func(o *Options) {
				if name == "loop" {
					o.Limits.Deadline = 500 * time.Millisecond
				}
			})
			r := renderers(p)
			if _, err := r.Render(t.Context(), of("ok")); err != nil {
				t.Fatal(err)
			}
			_, err := r.Render(t.Context(), of(name))
			found := diag.From(err, "none")
			if len(found) != 1 || found[0].Code != want || found[0].Instance != name || !strings.Contains(found[0].What, "instance "+name) || found[0].Fix == "" || strings.Contains(found[0].String(), "hunter2") {
				t.Errorf("want %s, got %+v", want, found)
			}
			if _, err := r.Render(t.Context(), of("ok")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTheParentsClock: a child that does not notice that its time is over is ended by its parent.
func TestTheParentsClock(t *testing.T) {
	p := pool(t, func(o *Options) {
		o.Limits, o.Grace = cuelang.WatchLimits{Deadline: 200 * time.Millisecond}, 300*time.Millisecond
	})
	_, err := renderers(p).Render(t.Context(), of("stopped"))
	if found := diag.From(err, ""); len(found) != 1 || found[0].Code != CodeTooLong {
		t.Error(err)
	}
}

// TestTwentyAtOnce: one that never ends costs the other nineteen nothing but its child.
func TestTwentyAtOnce(t *testing.T) {
	p := pool(t, func(o *Options) { o.Most, o.Limits.Deadline = 3, 2*time.Second })
	r := renderers(p)
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			name := fmt.Sprint("n", i)
			if i == 7 {
				name = "loop"
			}
			_, errs[i] = r.Render(t.Context(), of(name))
		})
	}
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 7) {
			t.Errorf("%d: %v", i, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live > 3 {
		t.Errorf("%d children", p.live)
	}
}

// TestCancelled: who gives up is not kept waiting, has his own reason, and leaves no child behind that goes on.
func TestCancelled(t *testing.T) {
	p := pool(t, func(o *Options) { o.Most = 1 })
	p.Warm()
	k := p.idle[0]
	r := renderers(p)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	if _, err := r.Render(ctx, of("loop")); !errors.Is(err, why) {
		t.Error(err)
	}
	if k.alive() {
		t.Error("the child goes on")
	}
	if _, err := r.Render(ctx, of("ok")); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := r.Render(t.Context(), of("ok")); err != nil {
		t.Error(err)
	}
}

// TestKilledBetween: a child that was killed while nobody asked it is replaced, and nobody notices.
func TestKilledBetween(t *testing.T) {
	p := pool(t, nil)
	p.Warm()
	k := p.idle[0]
	if err := kill(k.cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	<-k.done
	if _, err := renderers(p).Render(t.Context(), of("ok")); err != nil {
		t.Error(err)
	}
}

// TestCannotStart: a program that is not there, is something else, or is another build, is a finding.
func TestCannotStart(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"missing":       func(o *Options) { o.Command = []string{"/no/such/program"} },
		"something":     func(o *Options) { o.Command = []string{"/bin/echo", "hello there, this is no hawser"} },
		"silent":        func(o *Options) { o.Command = []string{"/bin/true"} },
		"another build": func(o *Options) { o.Environment = []string{"BUILD=c"} },
	} {
		_, err := renderers(pool(t, change)).Render(t.Context(), of("ok"))
		if err == nil || name == "another build" && !strings.Contains(err.Error(), "another hawser") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChecks: verdicts come through, and a rule that ended a child, or that was given up, is not asked again.
func TestChecks(t *testing.T) {
	p := pool(t, func(o *Options) { o.Limits.Deadline = time.Second })
	c := p.Checker(doubleChecker{})
	rule := func(name string) health.Check {
		return health.Check{Name: name, Source: name, CEL: &health.Expressions{Ready: name}}
	}
	st, applies, err := c.Check(rule("ok"), map[string]any{"x": int64(5)})
	if st.State != health.Ready || st.Reason != "5" || !slices.Equal(st.Details, []string{"a"}) || !applies || err != nil {
		t.Error(st, applies, err)
	}
	if _, applies, err := c.Check(rule("other"), nil); applies || err != nil {
		t.Error(applies, err)
	}
	if _, applies, err := c.Check(rule("error"), nil); !applies || err == nil || err.Error() != "does not fit" {
		t.Error(applies, err)
	}
	if err := c.Vet(rule("ok")); err == nil || err.Error() != "cannot work" {
		t.Error(err)
	}
	for name, want := range map[string]string{"loop": "evaluation takes longer than 1s", "given up": "given up"} {
		begun := time.Now()
		_, applies, err := c.Check(rule(name), nil)
		first := time.Since(begun)
		if !applies || err == nil || err.Error() != want {
			t.Errorf("%s: %v %v", name, applies, err)
		}
		p.mu.Lock()
		live := p.live
		p.mu.Unlock()
		if live != 0 {
			t.Errorf("%s: %d children go on", name, live)
		}
		if _, _, again := c.Check(rule(name), nil); again == nil || again.Error() != want || p.live != 0 {
			t.Errorf("%s: asked again, after %s: %v", name, first, again)
		}
	}
	if err := c.Vet(health.Check{Layer: health.BuiltIn, Name: "here", CEL: &health.Expressions{}}); err == nil || p.live != 0 {
		t.Error("a built-in rule is asked elsewhere")
	}
}

// fill gives every field some value.
func fill(g *rand.Rand, v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[*v1alpha1.Value]():
		return // carried as wire's own tests show
	case reflect.TypeFor[any]():
		if x := []any{int64(g.Int64()), "s", 1.5, json.Number("3"), nil, true, map[string]any{"a": []any{}}}[g.IntN(7)]; x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		v.SetInt(int64(g.IntN(100) - 50))
	case reflect.Uint64, reflect.Uint, reflect.Uint8:
		v.SetUint(uint64(g.IntN(100)))
	case reflect.String:
		v.SetString([]string{"", "a", "é\x00", "long text"}[g.IntN(4)])
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(g, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if strings.HasPrefix(v.Type().Elem().PkgPath(), "hawser.dev") && v.Type().Elem().Name() == "Watchdog" || v.Type() == reflect.TypeFor[*chance.Source]() || g.IntN(3) == 0 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(g, v.Elem(), depth+1)
	case reflect.Slice:
		if n := g.IntN(4); n > 0 && depth < 12 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fill(g, v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if n := g.IntN(3); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			e := reflect.New(v.Type().Elem()).Elem()
			fill(g, e, depth+1)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", n)).Convert(v.Type().Key()), e)
		}
	}
}

// TestMessages: whatever is in the fields of a message, those that documents get later included, comes out as it went in.
func TestMessages(t *testing.T) {
	g := rand.New(rand.NewPCG(testseed.From(t), 2))
	for range 200 {
		for _, v := range []any{&hello{}, &question{}, &answer{}, &call{}, &reply{}} {
			fill(g, reflect.ValueOf(v).Elem(), 0)
			data, err := wire.Marshal(reflect.ValueOf(v).Elem().Interface())
			if err != nil {
				t.Fatalf("%T: %v", v, err)
			}
			out := reflect.New(reflect.TypeOf(v).Elem())
			if err := wire.Unmarshal(data, out.Interface()); err != nil {
				t.Fatalf("%T: %v", v, err)
			}
			if !reflect.DeepEqual(out.Interface(), v) {
				t.Fatalf("%T:\n got %+v\nwant %+v", v, out.Elem(), reflect.ValueOf(v).Elem())
			}
		}
	}
}
