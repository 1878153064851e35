package kube_test

import (
	"context"
	"crypto/sha256"
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
	"hawser.dev/hawser/internal/release/storetest"
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
		case <-time.After(2 * time.Minute):
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
		names[i] = fmt.Sprintf("hawser-shop-1f2e-r1-overflow-w-%d", i)
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

// bodies answers reads of Secrets by name, and deletes nothing.
type bodies struct {
	liar
	data map[string]corev1.Secret
}

func (s bodies) Get(_ context.Context, path string, _ url.Values, into any) error {
	found, ok := s.data[path[strings.LastIndex(path, "/")+1:]]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, path)
	}
	*(into.(*corev1.Secret)) = found
	return nil
}

// withIndex is a bundle of which one revision is kept, with an index that somebody wrote into it.
func withIndex(t *testing.T, change func(index map[string]any, kept map[string]any)) release.Store {
	t.Helper()
	digest := func(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
	r := release.Record{V: release.V, Bundle: "shop", Owner: "o", Revision: 1, Phase: release.Succeeded, SetDigest: "set"}
	record, err := release.EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := release.EncodeRevision(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]any{"revision": 1, "phase": "succeeded", "set": "set", "digest": digest(revision), "secrets": []string{"hawser-o-r1"}}
	index := map[string]any{"v": 1, "write": "w", "digest": digest(record), "kept": []any{kept}}
	change(index, kept)
	text, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	return kube.New(bodies{data: map[string]corev1.Secret{
		"hawser-o":    {Data: map[string][]byte{"record": record, "index": text}},
		"hawser-o-r1": {Data: map[string][]byte{"record": revision}},
	}}, "c")
}

// TestHostileIndex: an index that no Hawser wrote is damage of that cluster; it ends no process, names no other objects, and
// has nothing read again and again.
func TestHostileIndex(t *testing.T) {
	many := func(index, kept map[string]any) {
		var all []any
		for i := range 500 {
			all = append(all, map[string]any{"revision": i + 1, "phase": "succeeded", "secrets": []string{fmt.Sprint("s", i)}})
		}
		index["kept"] = all
	}
	for name, change := range map[string]func(index, kept map[string]any){
		"no Secrets":     func(_, k map[string]any) { k["secrets"] = []string{} },
		"null":           func(x, _ map[string]any) { x["kept"] = []any{nil} },
		"no phase":       func(_, k map[string]any) { k["phase"] = "succ \x1b[2J" },
		"a number":       func(_, k map[string]any) { k["revision"] = 1 << 40 },
		"negative":       func(_, k map[string]any) { k["revision"] = -1 },
		"the same twice": func(x, k map[string]any) { x["kept"] = []any{k, k} },
		"a Secret twice": func(_, k map[string]any) { k["secrets"] = []string{"hawser-o-r1", "hawser-o-r1"} },
		"many":           many,
		"another path":   func(_, k map[string]any) { k["secrets"] = []string{"../../kube-system/secrets/hawser-o-r1"} },
		"swept path":     func(x, _ map[string]any) { x["sweep"] = []string{"../../../nodes/a"} },
		"overflow path":  func(x, _ map[string]any) { x["overflow"] = []string{"../configmaps/a"} },
	} {
		s := withIndex(t, change)
		_, err := storetest.Kept(t.Context(), s.(release.History), "o")
		if !errors.Is(err, release.ErrDamaged) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Objects(t.Context(), release.Record{Owner: "o", Revision: 1, SetDigest: "set"}); !errors.Is(err, release.ErrDamaged) {
			t.Errorf("%s: its objects: %v", name, err)
		}
	}
	if kept, err := storetest.Kept(t.Context(), withIndex(t, func(_, _ map[string]any) {}).(release.History), "o"); err != nil || len(kept) != 1 {
		t.Errorf("%v %v", kept, err)
	}
	if _, err := withIndex(t, func(_, _ map[string]any) {}).Objects(t.Context(), release.Record{Owner: "o", Revision: 1, SetDigest: "set"}); !errors.Is(err, release.ErrDamaged) {
		t.Errorf("objects that are not those of the record's digest are believed: %v", err)
	}
	renumbered := withIndex(t, func(_, k map[string]any) { k["revision"] = 7 })
	if _, err := storetest.Kept(t.Context(), renumbered.(release.History), "o"); !errors.Is(err, release.ErrDamaged) {
		t.Errorf("revision 1 is kept as 7: %v", err)
	}
}

// asked is bodies that notes what it was asked for.
type asked struct {
	bodies
	paths *[]string
}

func (s asked) Get(ctx context.Context, path string, query url.Values, into any) error {
	*s.paths = append(*s.paths, path)
	return s.bodies.Get(ctx, path, query, into)
}

// FuzzIndex: whatever an index says, what is read are Secrets of that bundle in hawser's own namespace, what is told as kept has
// numbers that count, there is no record of nothing, and an error shows no raw control characters.
func FuzzIndex(f *testing.F) {
	f.Add(`{"v":1,"kept":[{"revision":99,"phase":"succeeded","set":"x","digest":"y","secrets":[]}]}`)
	f.Add(`{"v":1,"overflow":[""],"kept":[null]}`)
	f.Add(`{"v":1,"write":"w","kept":[{"revision":1,"phase":"succeeded","set":"set","digest":"y","secrets":["hawser-o-r1"]}]}`)
	f.Add(`{"v":1,"kept":[{"revision":1,"phase":"failed","secrets":["../x"]}],"sweep":["hawser-p"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var paths []string
		s := kube.New(asked{bodies{data: map[string]corev1.Secret{"hawser-o": {Data: map[string][]byte{"index": []byte(text)}}}}, &paths}, "c")
		record, _, err := s.Current(context.Background(), "o")
		if record != nil {
			t.Errorf("a record of nothing: %+v", record)
		}
		_, objectsErr := s.Objects(context.Background(), release.Record{Owner: "o", Revision: 99, SetDigest: "x"})
		kept, keptErr := storetest.Kept(context.Background(), s.(release.History), "o")
		for _, err := range []error{err, objectsErr, keptErr} {
			if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
				t.Errorf("%q", err)
			}
		}
		for _, r := range kept {
			if r.Revision < 1 || r.Owner != "o" {
				t.Errorf("kept: %+v", r)
			}
		}
		for _, path := range paths {
			at := strings.LastIndex(path, "/") + 1
			if name := path[at:]; !strings.HasSuffix(path[:at], "/namespaces/hawser-system/secrets/") || name != "hawser-o" && !strings.HasPrefix(name, "hawser-o-") {
				t.Errorf("%q was asked for", path)
			}
		}
	})
}
