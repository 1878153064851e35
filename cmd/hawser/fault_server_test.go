package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hawser.dev/hawser/internal/object"
)

// trouble answers the first tries of every ConfigMap's write, then passes.
func trouble(tries int, answer func(w http.ResponseWriter)) (interposed, func() (perObject map[string]int, at []time.Time)) {
	var mu sync.Mutex
	count, at := map[string]int{}, []time.Time(nil)
	return func(w http.ResponseWriter, r *http.Request, pass func()) {
			if !writesOf(r, "configmaps") {
				pass()
				return
			}
			mu.Lock()
			count[r.URL.Path]++
			n := count[r.URL.Path]
			at = append(at, time.Now())
			mu.Unlock()
			if n <= tries {
				answer(w)
				return
			}
			pass()
		}, func() (map[string]int, []time.Time) {
			mu.Lock()
			defer mu.Unlock()
			return count, at
		}
}

// Answers that mean "not now" are asked again, not before the server wants; each object is written once in the end.
func TestFault16ServerInTrouble(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		least  time.Duration
	}{
		"429": {func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "2")
			status(w, 429, "TooManyRequests", "too many requests, please try again later")
		}, 2 * time.Second},
		"503": {func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			status(w, 503, "ServiceUnavailable", "the server is currently unable to handle the request")
		}, time.Second},
		"504": {func(w http.ResponseWriter) {
			status(w, 504, "Timeout", "request did not complete within the allotted timeout")
		}, 0},
		"502 of a proxy": {func(w http.ResponseWriter) { http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway) }, 0},
		"leader changed": {func(w http.ResponseWriter) { status(w, 500, "InternalError", "etcdserver: leader changed") }, 0},
		"cut":            {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.files(faultBundle)
			handle, seen := trouble(1, tt.answer)
			s.interpose("staging", handle)
			s.mark()
			s.want(0, onOne("staging", "apply", "-y")...)
			s.there("staging", "a", "b")
			count, at := seen()
			for path, n := range count {
				if n != 2 {
					t.Errorf("%s was sent %d times, want 2", path, n)
				}
			}
			if took := at[len(at)-1].Sub(at[0]); took < tt.least {
				t.Errorf("sent again after %s, asked for %s", took, tt.least)
			}
		})
	}
}

// What can never be stored is not sent again, and the text says why.
func TestFault16TooLarge(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"413":  func(w http.ResponseWriter) { status(w, 413, "RequestEntityTooLarge", "limit is 3145728") },
		"etcd": func(w http.ResponseWriter) { status(w, 500, "InternalError", "etcdserver: request is too large") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.files(faultBundle)
			handle, seen := trouble(99, answer)
			s.interpose("staging", handle)
			r := s.want(1, onOne("staging", "apply", "-y")...)
			s.has(r.Stderr, "$NS/a", "large")
			count, _ := seen()
			for path, n := range count {
				if n != 1 {
					t.Errorf("%s was sent %d times", path, n)
				}
			}
		})
	}
	t.Run("before anything is sent", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		s.files(faultBundle)
		s.write("m/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: "+noise(t, 2<<20)+"}\n")
		s.mark()
		s.has(s.want(1, onOne("staging", "apply", "-y")...).Stderr, "ConfigMap a", "m/a.yaml:1", "at most 1048576")
		s.untouched("staging")
	})
}

// noise is n bytes that do not compress, as text.
func noise(t *testing.T, n int) string {
	t.Helper()
	b := make([]byte, n*3/4)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// isWatch reports a watch of Deployments.
func isWatch(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/deployments") && r.URL.Query().Get("watch") != ""
}

// A watch that is too old, refused, broken or cut off: the object is read anew and its readiness is seen. Where
// watching is forbidden it is asked for again and again.
func TestFault17Watch(t *testing.T) {
	t.Parallel()
	const gone = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old resource version","code":410}}` + "\n"
	for name, spoil := range map[string]func(w http.ResponseWriter, n int) bool{
		"410 as the answer": func(w http.ResponseWriter, n int) bool {
			if n <= 2 {
				status(w, 410, "Expired", "too old resource version")
			}
			return n <= 2
		},
		"410 as an event": func(w http.ResponseWriter, n int) bool {
			if n <= 2 {
				fmt.Fprint(w, gone)
			}
			return n <= 2
		},
		"closed at once": func(_ http.ResponseWriter, n int) bool { return n <= 3 },
		"broken event": func(w http.ResponseWriter, n int) bool {
			if n <= 2 {
				fmt.Fprint(w, `{"type":"MODIF`)
			}
			return n <= 2
		},
		"cut": func(_ http.ResponseWriter, n int) bool {
			if n <= 2 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
		"forbidden": func(w http.ResponseWriter, _ int) bool {
			status(w, 403, "Forbidden", `deployments.apps is forbidden: User "x" cannot watch resource "deployments"`)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.files(faultBundle + faultDeployment)
			var mu sync.Mutex
			watches := 0
			s.interpose("staging", func(w http.ResponseWriter, r *http.Request, pass func()) {
				if isWatch(r) {
					mu.Lock()
					watches++
					n := watches
					mu.Unlock()
					if spoil(w, n) {
						return
					}
				}
				pass()
			})
			p := s.start(onOne("staging", "apply", "-y", "--timeout", "15m")...)
			eventually(t, "the Deployment is written and watched", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return watches > 0 && s.generation("staging") == 1
			})
			time.Sleep(500 * time.Millisecond)
			s.rolledOut("staging", 1)
			began := time.Now()
			s.exits(p.end(), 0)
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("readiness was seen after %s", took)
			}
			mu.Lock()
			defer mu.Unlock()
			if watches > 30 {
				t.Errorf("%d watches: no pause between them", watches)
			}
		})
	}
}

// A release bigger than one Secret may be is kept in several, each well under the limit; it is read, changed and
// deleted like any other, and nothing is left.
func TestFault18BigRecord(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	for i := range 8 {
		s.write(fmt.Sprintf("m/big%d.yaml", i), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big%d}\ndata: {v: %s}\n", i, noise(t, 400<<10)))
	}
	records := func() (n, most int) {
		for _, it := range list(t, s.client("staging"), "api/v1/namespaces/"+object.SystemNamespace+"/secrets",
			object.LabelOwner+"="+object.OwnerID("", "", s.bundle)) {
			size := 0
			for _, v := range it.Data {
				size += len(v) // base64
			}
			n, most = n+1, max(most, size)
		}
		return n, most
	}
	for rev, v := range []string{"1", "2", "3"} {
		if rev > 0 {
			s.edit("m/a.yaml", fmt.Sprintf("%q", fmt.Sprint(rev)), fmt.Sprintf("%q", v))
		}
		s.want(0, onOne("staging", "apply", "-y")...)
		n, most := records()
		if n < 1+(rev+1)*3 || most > 1<<20 {
			t.Errorf("revision %s: %d Secrets, the biggest of %d bytes", v, n, most)
		}
		s.mark()
		s.want(0, onOne("staging", "apply", "-y")...)
		s.untouched("staging")
	}
	s.want(0, "status", s.bundle, "--kube-context", "staging")
	s.want(0, "delete", s.bundle, "-y", "--kube-context", "staging")
	if n, _ := records(); n != 0 {
		t.Errorf("%d Secrets are left", n)
	}
}
