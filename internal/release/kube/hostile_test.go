package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	corev1 "k8s.io/api/core/v1"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
)

// liar is an API server that makes a Lease, or seems to, and then answers with something else.
type liar struct {
	made  string // what a creation is answered with; "" is the object itself, with a uid
	later string // what everything else is answered with
}

func (l liar) Get(_ context.Context, _ string, _ url.Values, into any) error {
	return json.Unmarshal([]byte(l.later), into)
}

func (l liar) Put(_ context.Context, _ string, _ url.Values, _, into any) error {
	return json.Unmarshal([]byte(l.later), into)
}

func (l liar) Delete(context.Context, string, any) error { return nil }

func (l liar) Post(_ context.Context, _ string, _ url.Values, body, into any) error {
	if l.made != "" {
		return json.Unmarshal([]byte(l.made), into)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var obj map[string]any
	if err := json.Unmarshal(data, &obj); err != nil {
		return err
	}
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("no object: %s", data)
	}
	meta["uid"], meta["resourceVersion"], meta["creationTimestamp"] = "u", "1", time.Now().UTC().Format(time.RFC3339)
	if data, err = json.Marshal(obj); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// A lock that the API server does not confirm is none, and one that it no longer confirms is lost in time: whatever is
// answered, nothing is believed and nothing panics.
func TestLeaseThatIsNone(t *testing.T) {
	for _, answer := range []string{`{}`, `{"kind":"Status","status":"Success"}`, `{"metadata":{"name":"other","uid":"u"}}`,
		`{"metadata":{"name":"hawser-owner","uid":"u"},"spec":{"holderIdentity":"somebody else"}}`, `{"metadata":{"name":"hawser-owner","uid":"u"},"spec":{}}`} {
		if l, err := kube.New(liar{made: answer}, "c").Lock(t.Context(), "owner", "me", time.Second); err == nil {
			t.Errorf("%s is believed to be a lock", answer)
			_ = l.Unlock(t.Context())
		}
		l, err := kube.New(liar{later: answer}, "c").Lock(t.Context(), "owner", "me", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-l.Context().Done():
			if cause := context.Cause(l.Context()); !errors.Is(cause, release.ErrLost) {
				t.Errorf("%s: %v", answer, cause)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the lock is not lost", answer)
		}
		_ = l.Unlock(t.Context())
	}
}

// endless answers every read with the same head, whose record has itself for a part, again and again.
type endless struct {
	liar
	reads *int
}

func (e endless) Get(_ context.Context, _ string, _ url.Values, into any) error {
	if *e.reads++; *e.reads > 1000 {
		return errors.New("it is read without end")
	}
	names := make([]string, 5000)
	for i := range names {
		names[i] = "hawser-x"
	}
	index, err := json.Marshal(map[string]any{"v": 1, "write": "w", "digest": "sha256:0", "overflow": names})
	if err != nil {
		return err
	}
	*(into.(*corev1.Secret)) = corev1.Secret{Data: map[string][]byte{"index": index, "record": make([]byte, 1<<20)}}
	return nil
}

// TestEndlessRecord: a record whose parts have no end is damaged, and does not fill the memory.
func TestEndlessRecord(t *testing.T) {
	reads := 0
	_, _, err := kube.New(endless{reads: &reads}, "c").Current(t.Context(), "shop-1f2e")
	if !errors.Is(err, release.ErrDamaged) || reads > 200 {
		t.Errorf("after %d reads: %v", reads, err)
	}
}

// denied is a client of somebody who may do nothing.
type denied struct{ liar }

func (denied) Get(context.Context, string, url.Values, any) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "hawser-abc", errors.New(`User "jane" cannot get resource`))
}

// A right that is missing is a finding like every other: one that is a refusal, is the same for all clusters, and says how
// the rights are had.
func TestMissingRightIsAFinding(t *testing.T) {
	var whats []string
	for _, name := range []string{"eu", "us"} {
		_, _, err := kube.New(denied{}, name).Current(t.Context(), "abc")
		fs := diag.From(err, "record")
		if len(fs) != 1 || fs[0].Code != "missing-rights" || fs[0].Cluster != name || !strings.Contains(fs[0].Fix, "--print-rbac") || !apierrors.IsForbidden(err) {
			t.Fatalf("%+v", fs)
		}
		whats = append(whats, fs[0].What)
	}
	if whats[0] != whats[1] || strings.Contains(whats[0], "eu") {
		t.Errorf("%q", whats)
	}
}
