package kubeapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// What a cache gives whole, whatever page was asked for, is read page by page as it is stored where that is too much.
func TestListOfACacheThatIsTooLarge(t *testing.T) {
	var got []string
	item := func(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }
	h := &heard{ask: func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		got = append(got, fmt.Sprintf("limit=%s version=%q continue=%q", q.Get("limit"), q.Get("resourceVersion"), q.Get("continue")))
		switch {
		case q.Get("resourceVersion") != "":
			_, _ = w.Write([]byte(`{"kind":"List","metadata":{},"items":[` + strings.Repeat(item("x")+",", 2_000_000) + item("x") + `]}`))
		case q.Get("continue") == "":
			_, _ = w.Write([]byte(`{"kind":"List","metadata":{"continue":"more"},"items":[` + item("a") + `]}`))
		default:
			_, _ = w.Write([]byte(`{"kind":"List","metadata":{},"items":[` + item("b") + `]}`))
		}
	}}
	var names []string
	err := h.client(t, false).ListMeta(t.Context(), "/api/v1/configmaps", url.Values{"resourceVersion": {"0"}}, func() {}, func(m Metadata) { names = append(names, m.Name) })
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%v %v", names, err)
	}
	want := []string{`limit=5000 version="0" continue=""`, `limit=500 version="" continue=""`, `limit=500 version="" continue="more"`}
	if !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}
