package testserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
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

// Bomb answers with head, repeat as often as makes about size bytes, and tail, compressed whatever was asked for.
func Bomb(code int, head, repeat, tail string, size int) Fault {
	packed := sync.OnceValue(func() []byte {
		var out bytes.Buffer
		z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
		_, _ = io.WriteString(z, head)
		chunk := strings.Repeat(repeat, max(1, 64<<10/len(repeat)))
		for n := 0; n < size; n += len(chunk) {
			_, _ = io.WriteString(z, chunk)
		}
		_, _ = io.WriteString(z, tail)
		_ = z.Close()
		return out.Bytes()
	})
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(code)
		_, _ = w.Write(packed())
		return true
	}
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
