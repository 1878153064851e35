package sessions_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/sessions"
	"hawser.dev/hawser/internal/testserver"
)

// config reaches a server.
func config(t *testing.T, s *testserver.Server, edit ...func(*clientcmdapi.Config)) cluster.Config {
	return cluster.Config{Config: kubeapi.Config{Name: "eu", Access: fleet.Access{KubeconfigPaths: []string{s.Kubeconfig(t, edit...)}, Context: "test"}}}
}

// asked is how often the server was asked for its version: once for each time that somebody learned the facts.
func asked(s *testserver.Server) (n int) {
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, "GET /version") {
			n++
		}
	}
	return n
}

func get(t *testing.T, p *sessions.Pool, c cluster.Config) *cluster.Session {
	t.Helper()
	s, err := p.Get(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clock is a time that goes on when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) on(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestOneConnection: runs that go on at once and one after the other share what was learned of a cluster, until it is old or something
// was written; each masks by its own secrets.
func TestOneConnection(t *testing.T) {
	s := testserver.Start(t)
	at := &clock{now: time.Unix(1, 0)}
	p := &sessions.Pool{Now: at.Now}
	c := config(t, s)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, err := p.Get(t.Context(), c)
			if err != nil || got.Facts().Version == "" || got.Facts().UID == "" || len(got.Facts().APIs) == 0 {
				t.Errorf("%v %v", got, err)
				return
			}
			got.Close()
			got.Close() // once counts
		})
	}
	wg.Wait()
	if asked(s) != 1 || p.Kept() != 1 {
		t.Errorf("asked %d times over %d connections", asked(s), p.Kept())
	}
	at.on(time.Minute)
	mine := c
	mine.Redact = func(text string) string { return strings.ReplaceAll(text, "mine", "***") }
	first, second := get(t, p, mine), get(t, p, c)
	if asked(s) != 2 || p.Kept() != 1 {
		t.Errorf("asked %d times over %d connections when the facts were old", asked(s), p.Kept())
	}
	if first.Redact("mine") != "***" || second.Redact("mine") != "mine" {
		t.Error("one run's secrets are the other's")
	}
	if err := first.REST().Post(t.Context(), "/api/v1/namespaces", nil, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "x"}}, nil); err != nil {
		t.Fatal(err)
	}
	get(t, p, c).Close()
	get(t, p, c).Close()
	if asked(s) != 3 {
		t.Errorf("asked %d times after a write, which may bring kinds", asked(s))
	}
}

// TestAnotherCluster: where the UID or the version is another one, or the credentials are, the connection is another one, too.
func TestAnotherCluster(t *testing.T) {
	s := testserver.Start(t)
	at := &clock{now: time.Unix(1, 0)}
	p := &sessions.Pool{Now: at.Now}
	c := config(t, s)
	before := get(t, p, c)
	answers := func(path, body string) testserver.Fault {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(body))
			}
			return r.URL.Path == path
		}
	}
	s.Fault(answers("/api/v1/namespaces/kube-system", `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "kube-system", "uid": "another"}}`))
	at.on(time.Minute)
	after := get(t, p, c)
	if asked(s) != 3 || after.Facts().UID == before.Facts().UID { // at first, again, and by a connection of its own
		t.Errorf("asked %d times, UID %s and then %s", asked(s), before.Facts().UID, after.Facts().UID)
	}
	s.Fault(answers("/version", `{"gitVersion": "v1.35.0"}`))
	at.on(time.Minute)
	if now := get(t, p, c); asked(s) != 5 || now.Facts().Version != "1.35.0" {
		t.Errorf("asked %d times, version %s", asked(s), now.Facts().Version)
	}
	other := config(t, s, func(k *clientcmdapi.Config) { k.AuthInfos["test"].Token = "another" })
	if get(t, p, other); asked(s) != 6 || p.Kept() != 2 {
		t.Errorf("another credential: asked %d times over %d connections", asked(s), p.Kept())
	}
}

// TestBounded: of the connections that nobody uses so many are kept, for so long; those in use stay.
func TestBounded(t *testing.T) {
	at := &clock{now: time.Unix(1, 0)}
	p := &sessions.Pool{Now: at.Now, Most: 2, Idle: time.Minute, Fresh: time.Hour}
	var all []*cluster.Session
	var configs []cluster.Config
	var servers []*testserver.Server
	for range 4 {
		s := testserver.Start(t)
		servers, configs = append(servers, s), append(configs, config(t, s))
		all = append(all, get(t, p, configs[len(configs)-1]))
	}
	if p.Kept() != 4 {
		t.Errorf("%d are kept while all are used", p.Kept())
	}
	for _, s := range all {
		at.on(time.Second)
		s.Close()
	}
	if p.Kept() != 2 {
		t.Errorf("%d are kept that nobody uses", p.Kept())
	}
	get(t, p, configs[3]).Close()
	get(t, p, configs[0]).Close()
	if asked(servers[3]) != 1 || asked(servers[0]) != 2 {
		t.Errorf("the last was asked %d times, the first %d", asked(servers[3]), asked(servers[0]))
	}
	at.on(time.Hour)
	get(t, p, configs[0])
	if p.Kept() != 1 || asked(servers[0]) != 3 {
		t.Errorf("%d are kept after an hour, and the first was asked %d times", p.Kept(), asked(servers[0]))
	}
	p.Close()
	if p.Kept() != 1 {
		t.Error("one in use was ended")
	}
}

// TestFailuresAreNotKept: neither a cancelled caller's error nor that of a server that was away is the next one's answer, also while
// another run still has a session.
func TestFailuresAreNotKept(t *testing.T) {
	s := testserver.Start(t)
	at := &clock{now: time.Unix(1, 0)}
	p := &sessions.Pool{Now: at.Now}
	c := config(t, s)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Get(cancelled, c); !errors.Is(err, context.Canceled) || p.Kept() != 0 {
		t.Errorf("%v, %d kept", err, p.Kept())
	}
	get(t, p, c)
	at.on(time.Minute)
	s.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		testserver.Status(w, 403, "Forbidden", "not now")
		return true
	})
	if _, err := p.Get(t.Context(), c); err == nil {
		t.Error("a server that refuses is reached")
	}
	s.Fault(nil)
	get(t, p, c)
	c.Access.Context = "none"
	if _, err := p.Get(t.Context(), c); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("%v", err)
	} else if _, ok := errors.AsType[*kubeapi.AccessError](err); !ok {
		t.Errorf("%T", err)
	}
}

// TestTakenOverQuestion: where the one who asks is cancelled, and another one goes on with the question, its session is the connection's
// that everybody has then.
func TestTakenOverQuestion(t *testing.T) {
	s := testserver.Start(t)
	p := &sessions.Pool{}
	c := config(t, s)
	first, cancel := context.WithCancel(t.Context())
	held, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/version") {
			once.Do(func() { close(held) })
			select {
			case <-free:
			case <-r.Context().Done():
			}
		}
		return false
	})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = p.Get(first, c) })
	<-held
	second := make(chan *cluster.Session, 1)
	wg.Go(func() {
		if got, err := p.Get(t.Context(), c); err == nil {
			second <- got
		}
	})
	for p.Users() < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	for p.Users() > 1 {
		time.Sleep(time.Millisecond)
	}
	close(free)
	wg.Wait()
	if len(second) != 1 {
		t.Fatal("the other one has no session")
	}
	s.Fault(nil)
	before := asked(s)
	get(t, p, c).Close()
	if n := asked(s) - before; n != 0 || p.Kept() != 1 {
		t.Errorf("asked %d times again, %d connections are kept", n, p.Kept())
	}
	(<-second).Close()
}
