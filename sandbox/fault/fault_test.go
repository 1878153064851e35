package fault

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMatch(t *testing.T) {
	patch := httptest.NewRequest("PATCH", "/api/v1/namespaces/shop/configmaps/a?dryRun=All", nil)
	tests := map[string]bool{
		"":                       true,
		"PATCH":                  true,
		"PATCH configmaps":       true,
		"configmaps PATCH":       true,
		"dryRun=All":             true,
		"/namespaces/shop/":      true,
		"GET":                    false,
		"GET configmaps":         false,
		"PATCH secrets":          false,
		"PATCH configmaps other": false,
		"patch":                  false, // a word in lower case is a part of the path
	}
	for match, want := range tests {
		if got := (Spec{Match: match}).matches(patch); got != want {
			t.Errorf("%q matches is %v, want %v", match, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		spec Spec
		want string
	}{
		"all":             {Spec{}, "xxxxx"},
		"after":           {Spec{After: 2}, "..xxx"},
		"count":           {Spec{Count: 2}, "xx..."},
		"after and count": {Spec{After: 1, Count: 2}, ".xx.."},
		"rate of all":     {Spec{Rate: 1}, "xxxxx"},
	}
	r := httptest.NewRequest("GET", "/x", nil)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var c chooser
			c.set(&tt.spec)
			var got strings.Builder
			for range 5 {
				if s, _ := c.choose(r); s != nil {
					got.WriteByte('x')
				} else {
					got.WriteByte('.')
				}
			}
			if got.String() != tt.want {
				t.Errorf("chose %s, want %s", &got, tt.want)
			}
			if c.matched != 5 || c.faulted != int64(strings.Count(tt.want, "x")) {
				t.Errorf("matched %d, faulted %d", c.matched, c.faulted)
			}
		})
	}
	t.Run("without a spec", func(t *testing.T) {
		var c chooser
		if s, _ := c.choose(r); s != nil || c.matched != 0 {
			t.Errorf("chose %+v", s)
		}
	})
}

func TestValidate(t *testing.T) {
	good := map[string]Spec{
		"latency": {Latency: Duration(time.Second)}, "status": {Status: []int{429, 500}}, "drop": {Drop: true},
		"cut": {Cut: CutAfter}, "hang": {Hang: true, Rate: 0.1, After: 1, Count: 1},
	}
	for name, s := range good {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := map[string]Spec{
		"nothing": {}, "only a match": {Match: "GET"}, "rate": {Hang: true, Rate: 1.5}, "success": {Status: []int{200}},
		"cut": {Cut: "sideways"}, "after": {Hang: true, After: -1},
	}
	for name, s := range bad {
		if err := s.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSpecIsReadAsWritten(t *testing.T) {
	want := Spec{Match: "GET", Latency: Duration(1500 * time.Millisecond), Status: []int{503}}
	raw, err := json.Marshal(want)
	if err != nil || !strings.Contains(string(raw), `"latency":"1.5s"`) {
		t.Fatalf("%s, %v", raw, err)
	}
	var got Spec
	if err := json.Unmarshal(raw, &got); err != nil || got.Latency != want.Latency || got.Status[0] != 503 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestStatusIsOneOfKubernetes(t *testing.T) {
	for code, want := range map[int]metav1.StatusReason{
		429: metav1.StatusReasonTooManyRequests, 500: metav1.StatusReasonInternalError, 409: metav1.StatusReasonConflict, 418: metav1.StatusReasonUnknown,
	} {
		w := httptest.NewRecorder()
		writeStatus(w, Spec{RetryAfter: 3}, code)
		var st metav1.Status
		if err := json.Unmarshal(w.Body.Bytes(), &st); err != nil || st.Kind != "Status" || st.Reason != want || int(st.Code) != code || w.Code != code {
			t.Errorf("%d: %+v, %v", code, st, err)
		}
		if got := w.Header().Get("Retry-After"); (got == "3") != (code == http.StatusTooManyRequests) {
			t.Errorf("%d: Retry-After is %q", code, got)
		}
	}
}
