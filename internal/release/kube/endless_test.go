package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/release/kube"
)

// An API server whose list of records does not end is given up: status, list and history of a fleet wait for it.
func TestEndlessList(t *testing.T) {
	const one = `{"metadata":{"name":"hawser-a%d","uid":"u"%s}}`
	for name, c := range map[string]struct {
		items func(n int) string
		most  int // requests
		says  string
	}{
		"nothing, and a new token": {func(int) string { return "" }, 2, "does not end"},
		"then nothing":             {func(n int) string { return strings.Repeat(fmt.Sprintf(one, n, ""), max(0, 2-n)) }, 3, "does not end"},
		"large labels": {func(n int) string {
			return fmt.Sprintf(one, n, `,"labels":{"a":"`+strings.Repeat("x", 1<<20)+`"}`)
		}, 300, "MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked > c.most {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				_, _ = fmt.Fprintf(w, `{"kind":"SecretList","metadata":{"continue":"t%d"},"items":[%s]}`, asked, c.items(asked))
			}))
			defer srv.Close()
			_, err := bundles(t, kube.New(newClient(t, &rest.Config{Host: srv.URL}), "c"))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "cluster c") {
				t.Errorf("%d requests: %v", asked, err)
			}
		})
	}
}

// slowPages answers every page in time, with one more Secret and a way to the next.
type slowPages struct{ liar }

func (slowPages) Get(ctx context.Context, _ string, query url.Values, into any) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(20 * time.Second):
	}
	return json.Unmarshal([]byte(`{"kind":"SecretList","metadata":{"continue":"`+query.Get("continue")+`x"},"items":[{"metadata":{"name":"a"}}]}`), into)
}

// The pages of a list have one deadline for all.
func TestSlowList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if _, err := bundles(t, kube.New(slowPages{}, "c")); err == nil || time.Since(began) > 10*time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
