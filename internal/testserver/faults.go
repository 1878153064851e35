package testserver

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Redirect answers every request with a redirect of a status code to a place, with the path appended.
func Redirect(code int, to string) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Location", to+r.URL.Path)
		w.WriteHeader(code)
		return true
	}
}

// Body answers every request with a body.
func Body(code int, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// Bomb answers with head, repeat as often as makes about size bytes, and tail, compressed whatever was asked for. It is
// packed as many members of one stream, each of them packed once.
func Bomb(code int, head, repeat, tail string, size int) Fault {
	packed := sync.OnceValue(func() []byte {
		chunk := strings.Repeat(repeat, max(1, (1<<20)/len(repeat)))
		return slices.Concat(member(head), bytes.Repeat(member(chunk), size/len(chunk)), member(tail))
	})
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(code)
		_, _ = w.Write(packed())
		return true
	}
}

func member(text string) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return out.Bytes()
}

// Endless answers with head and then repeat until the client goes away.
func Endless(head, repeat string) Fault {
	chunk := []byte(strings.Repeat(repeat, max(1, 64<<10/len(repeat))))
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, head)
		for err == nil && r.Context().Err() == nil {
			_, err = w.Write(chunk)
		}
		return true
	}
}

// Drip answers a byte at a time and never ends.
func Drip(pause time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				break
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(pause):
			}
		}
		return true
	}
}

// Silent takes the request and never answers.
func Silent(_ http.ResponseWriter, r *http.Request) bool {
	_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client has gone
	<-r.Context().Done()
	return true
}

// Cut answers in the middle of a sentence and closes the connection.
func Cut(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "4000")
	_, _ = io.WriteString(w, `{"kind":"ConfigMap","metadata":{"na`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// Writing reports the requests that write an object of one of the resources, dry runs apart; no resource means any.
func Writing(resources ...string) func(r *http.Request) bool {
	return func(r *http.Request) bool {
		k, ok := kindOf(r.URL.Path)
		return ok && r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == "" && (len(resources) == 0 || slices.Contains(resources, k.resource))
	}
}

// Before lets pass what hurts does not report, and gives the rest to the fault.
func Before(hurts func(r *http.Request) bool, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool { return hurts(r) && f(w, r) }
}

// Altered serves as the server should, with every object of the answer changed. change is told its kind, also where the answer does not: in
// lists, and where metadata alone is asked for.
func (s *Server) Altered(change func(obj map[string]any)) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("watch") != "" {
			return false
		}
		told := httptest.NewRecorder()
		s.serve(told, r)
		var body map[string]any
		if json.Unmarshal(told.Body.Bytes(), &body) == nil {
			k, _ := kindOf(r.URL.Path)
			items, isList := body["items"].([]any)
			switch {
			case isList && body["metadata"] != nil:
				change(body)
				items, _ = body["items"].([]any)
			case body["kind"] != "Status":
				items = []any{body}
			}
			for _, o := range items {
				if obj, ok := o.(map[string]any); ok && obj["metadata"] != nil {
					changeAs(k, obj, change)
				}
			}
			told.Body.Reset()
			_ = json.NewEncoder(told.Body).Encode(body)
		}
		maps.Copy(w.Header(), told.Header())
		w.WriteHeader(told.Code)
		_, _ = w.Write(told.Body.Bytes())
		return true
	}
}

// changeAs changes an object that is shown as one of its own kind, which an answer may leave out or call otherwise.
func changeAs(k kind, obj map[string]any, change func(obj map[string]any)) {
	said, called := obj["kind"]
	if k.kind == "" || called && said != "PartialObjectMetadata" {
		change(obj)
		return
	}
	obj["kind"] = k.kind
	if change(obj); obj["kind"] != k.kind {
		return
	}
	if delete(obj, "kind"); called {
		obj["kind"] = said
	}
}

// OtherUIDs gives every object another UID each time it is told.
func (s *Server) OtherUIDs() Fault {
	return s.Altered(func(obj map[string]any) {
		if meta, ok := obj["metadata"].(map[string]any); ok && meta["uid"] != nil {
			meta["uid"] = rand.Text()
		}
	})
}

// Lost carries every request out and answers with the fault.
func (s *Server) Lost(f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		s.serve(httptest.NewRecorder(), r)
		return f(w, r)
	}
}

// After lets pass what passes reports and gives the rest to the fault.
func After(passes func(r *http.Request) bool, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool { return !passes(r) && f(w, r) }
}

// Connecting reports the requests that every session begins with.
func Connecting(r *http.Request) bool {
	switch r.URL.Path {
	case "/version", "/api", "/apis", "/api/v1/namespaces/kube-system":
		return true
	}
	return false
}

// Hostile are the faults by name that every client must survive: with an error in bounded time and memory, and without
// sending anything to elsewhere, an address of somebody else.
func Hostile(elsewhere string) map[string]Fault {
	const mib = 1 << 20
	out := map[string]Fault{
		"nothing": Body(200, ""), "html": Body(200, "<html>login</html>"), "null": Body(200, "null"), "list": Body(200, "[]"), "number": Body(200, "7"),
		"empty": Body(200, "{}"), "status": Body(200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`),
		"other object":     Body(200, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other","uid":"u"}}`),
		"wrong types":      Body(200, `{"gitVersion":7,"kind":[],"metadata":"x","items":{"a":1}}`),
		"nameless items":   Body(200, `{"kind":"List","metadata":{"resourceVersion":"1"},"items":[{},{"metadata":{}}]}`),
		"null items":       Body(200, `{"kind":"List","metadata":null,"items":[null,null]}`),
		"deep":             Body(200, strings.Repeat(`{"metadata":`, 80_000)),
		"deep lists":       Body(200, `{"items":`+strings.Repeat("[", mib-10)),
		"pages for ever":   Body(200, `{"kind":"List","metadata":{"resourceVersion":"1","continue":"again"},"items":[{"metadata":{"name":"a","uid":"u"}}]}`),
		"bomb of spaces":   Bomb(200, "", " ", "{}", 1000*mib),
		"bomb of text":     Bomb(200, `{"metadata":{"name":"`, "a", `"}}`, 1000*mib),
		"bomb of items":    Bomb(200, `{"items":[{}`, ",{}", `]}`, 1000*mib),
		"bomb of names":    Bomb(200, `{"metadata":{},"items":[{}`, `,{"metadata":{"name":"a","uid":"u","ownerReferences":[{},{},{},{},{},{},{},{}]}}`, `]}`, 60*mib),
		"bomb of groups":   Bomb(200, `{"items":[{}`, `,{"versions":[{},{},{},{}]}`, `]}`, 15*mib),
		"bomb of an error": Bomb(403, `{"kind":"Status","message":"`, "a", `"}`, 1000*mib),
		"endless":          Endless(`{"metadata":{"name":"`, "a"), "endless error": func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return Endless("", "no ")(w, r)
		},
	}
	for _, code := range []int{300, 301, 302, 303, 304, 307, 308} {
		out[fmt.Sprintf("redirect %d", code)] = Redirect(code, elsewhere)
	}
	return out
}
