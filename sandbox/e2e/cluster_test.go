package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestStopAndStart(t *testing.T) {
	c := shared.client(t, "us")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "survivor"}}
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := shared.status(t)
	shared.ok(t, "stop", "us")
	shared.ok(t, "stop", "us") // again is no error
	if _, err := namespaces(t, c); err == nil {
		t.Error("a stopped cluster answered")
	}
	if _, err := namespaces(t, shared.client(t, "us-fault")); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Errorf("through the proxy: %v; want a closed connection", err)
	}
	if _, err := namespaces(t, shared.client(t, "eu")); err != nil {
		t.Errorf("the other cluster: %v", err)
	}
	shared.fails(t, "works on one that is running", "pause", "us")
	shared.ok(t, "start", "us")
	shared.ok(t, "start", "us")
	if got, err := namespaces(t, c); err != nil || !slices.Contains(got, "survivor") {
		t.Errorf("after start: %v, %v", got, err)
	}
	if after := shared.status(t); after.Clusters[1].URL != before.Clusters[1].URL {
		t.Errorf("the port changed from %s to %s", before.Clusters[1].URL, after.Clusters[1].URL)
	}
}

func TestPauseAndResume(t *testing.T) {
	c := shared.client(t, "us")
	if _, err := namespaces(t, c); err != nil {
		t.Fatal(err)
	}
	shared.ok(t, "pause", "us")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		t.Errorf("got %v; want no answer at all", err)
	}
	shared.fails(t, "use resume", "start", "us")
	shared.ok(t, "resume", "us")
	if _, err := namespaces(t, c); err != nil {
		t.Errorf("after resume: %v", err)
	}
}

func TestFaults(t *testing.T) {
	plain, c := shared.client(t, "eu"), shared.client(t, "eu-fault")
	set := func(args ...string) { shared.ok(t, append([]string{"fault", "eu"}, args...)...) }
	defer set("--clear")
	create := func(name string) error {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{})
		return err
	}
	there := func(name string) bool {
		_, err := plain.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil
	}
	t.Run("latency", func(t *testing.T) {
		set("--latency", "300ms")
		begun := time.Now()
		if _, err := namespaces(t, c); err != nil || time.Since(begun) < 300*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
	t.Run("status with match and count", func(t *testing.T) {
		set("--status", "500", "--match", "POST configmaps", "--after", "1", "--count", "1")
		if err := create("first"); err != nil {
			t.Errorf("the first: %v", err)
		}
		if err := create("second"); !apierrors.IsInternalError(err) {
			t.Errorf("the second: %v; want 500", err)
		}
		if err := create("second"); err != nil {
			t.Errorf("the third: %v", err)
		}
		if _, err := namespaces(t, c); err != nil {
			t.Errorf("what does not match: %v", err)
		}
		if got := shared.status(t).Clusters[0]; got.Matched != 3 || got.Faulted != 1 {
			t.Errorf("matched %d, faulted %d", got.Matched, got.Faulted)
		}
	})
	t.Run("429 says when to come again", func(t *testing.T) {
		set("--status", "429", "--retry-after", "7")
		err := c.CoreV1().RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(t.Context()).Error()
		if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds != 7 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("error rate", func(t *testing.T) {
		set("--error-rate", "0.5", "--match", "GET")
		failed := 0
		for range 60 {
			if _, err := namespaces(t, c); err != nil {
				failed++
			}
		}
		if failed < 10 || failed > 50 {
			t.Errorf("%d of 60 failed; want about half", failed)
		}
	})
	t.Run("cut before", func(t *testing.T) {
		set("--cut", "before", "--match", "POST")
		if err := create("cut-before"); err == nil || there("cut-before") {
			t.Errorf("got %v; created is %v", err, there("cut-before"))
		}
	})
	t.Run("cut after", func(t *testing.T) {
		set("--cut", "after", "--match", "POST")
		if err := create("cut-after"); err == nil || !there("cut-after") {
			t.Errorf("got %v; created is %v", err, there("cut-after"))
		}
	})
	t.Run("drop", func(t *testing.T) {
		set("--drop", "--match", "GET namespaces")
		if _, err := namespaces(t, c); err == nil {
			t.Error("an answer cut in the middle was read")
		}
	})
	t.Run("hang", func(t *testing.T) {
		set("--hang")
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}); ctx.Err() == nil {
			t.Errorf("got %v at once", err)
		}
	})
	t.Run("clear", func(t *testing.T) {
		set("--clear")
		if _, err := namespaces(t, c); err != nil {
			t.Error(err)
		}
	})
	t.Run("watches stream", func(t *testing.T) { watchThrough(t, c) })
	t.Run("strangers are refused", func(t *testing.T) {
		cfg := rest.AnonymousClientConfig(shared.config(t, "eu-fault"))
		if err := getVersion(t, cfg); err == nil {
			t.Error("a client without certificate was served")
		}
	})
}

// watchThrough sees an object through a watch while the watch goes on.
func watchThrough(t *testing.T, c kubernetes.Interface) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	w, err := c.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=watched"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}
	if _, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if ev, ok := <-w.ResultChan(); !ok || ev.Type != "ADDED" {
		t.Errorf("got %+v, %v", ev, ok)
	}
}

func getVersion(t *testing.T, cfg *rest.Config) error {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Get(cfg.Host + "/version")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func TestAudit(t *testing.T) {
	from := strings.TrimSpace(shared.ok(t, "audit", "eu", "--offset"))
	cfg := shared.config(t, "eu")
	cfg.UserAgent = "audited/2"
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	force := true
	_, err = c.CoreV1().ConfigMaps("default").Patch(t.Context(), "a", "application/apply-patch+yaml",
		[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`),
		metav1.PatchOptions{FieldManager: "me", Force: &force, DryRun: []string{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Time                                              time.Time
		Verb, Method, Path, FieldManager, UserAgent, User string
		Status                                            int
		DryRun, Force                                     bool
		DurationMs                                        float64
	}
	var got []entry
	for line := range strings.Lines(shared.ok(t, "audit", "eu", "--from", from)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if strings.HasPrefix(e.User, "system:") {
			t.Errorf("a request of the control plane: %s", line)
		}
		if e.UserAgent == "audited/2" {
			got = append(got, e)
		}
	}
	if len(got) != 1 {
		t.Fatalf("got %+v; want one request", got)
	}
	e := got[0]
	if e.Verb != "patch" || e.Method != "PATCH" || e.Path != "/api/v1/namespaces/default/configmaps/a" || e.Status != 201 || !e.DryRun ||
		!e.Force || e.FieldManager != "me" || e.User != "sandbox-admin" || e.DurationMs <= 0 || time.Since(e.Time) > time.Minute {
		t.Errorf("got %+v", e)
	}
	all := shared.ok(t, "audit", "eu", "--all")
	if !strings.Contains(all, "system:kube-controller-manager") {
		t.Error("--all has no request of the controller manager")
	}
	if out := shared.ok(t, "audit", "eu", "--since", time.Now().Add(time.Hour).Format(time.RFC3339)); out != "" {
		t.Errorf("from the future came %s", out)
	}
}

func TestOtherUser(t *testing.T) {
	raw, err := clientcmd.Load([]byte(shared.ok(t, "kubeconfig", "--user", "jane", "--group", "developers")))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"eu", "eu-fault"} {
		cfg, err := clientcmd.NewNonInteractiveClientConfig(*raw, name, nil, nil).ClientConfig()
		if err != nil {
			t.Fatal(err)
		}
		c, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("%s: got %v; want forbidden", name, err)
		}
		me, err := whoAmI(t, c)
		if err != nil || me.Username != "jane" || !slices.Contains(me.Groups, "developers") {
			t.Errorf("%s: %+v, %v", name, me, err)
		}
	}
}
