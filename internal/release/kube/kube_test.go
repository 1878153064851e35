package kube_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testfleet"
)

// cluster is not shared with other packages: tests here delete hawser-system.
const cluster = "records"

func TestMain(m *testing.M) {
	if owner := os.Getenv(envHold); owner != "" {
		if err := hold(owner); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	testfleet.Main(m, testfleet.Options{Clusters: []string{cluster}})
}

func admin(t testing.TB) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(testfleet.Get().RESTConfig(cluster))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func connect(t testing.TB) *client { return newClient(t, testfleet.Get().RESTConfig(cluster)) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) release.Store { return kube.New(connect(t), cluster) })
}

// Every write is sent twice, as when its first answer is lost: nothing changes for the store.
func TestStoreWithLostAnswers(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) release.Store {
		c := connect(t)
		c.twice = true
		return kube.New(c, cluster)
	})
}

// dropNamespace deletes hawser-system and waits until it is gone. Tests that do so do not run in parallel, all others do.
func dropNamespace(t testing.TB) {
	t.Helper()
	namespaces := admin(t).CoreV1().Namespaces()
	err := namespaces.Delete(t.Context(), object.SystemNamespace, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if _, err := namespaces.Get(t.Context(), object.SystemNamespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return
		}
		if time.Since(start) > 5*time.Minute {
			t.Fatal("the namespace stays")
		}
	}
}

// apply is what an engine does around one run: lock, look, open, close, unlock.
func apply(t testing.TB, s release.Store, revision int) {
	t.Helper()
	r := storetest.Record(t, revision)
	lock, err := s.Lock(t.Context(), r.Owner, "ann@laptop", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, h, err := s.Current(t.Context(), r.Owner)
	if err != nil {
		t.Fatal(err)
	}
	opened := r
	opened.Phase = release.Applying
	if h, err = s.Put(t.Context(), opened, nil, h); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Put(t.Context(), r, storetest.Objects(3, "x"), h); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A first apply costs at most eight requests for namespace, lock and record; reading a record is one.
func TestBudget(t *testing.T) {
	dropNamespace(t)
	owner := storetest.Record(t, 1).Owner
	for revision, want := range []int{1: 8, 2: 6, 3: 6} {
		if revision == 0 {
			continue
		}
		c := connect(t)
		s := kube.New(c, cluster)
		if _, _, err := s.Current(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		if n := len(c.requests()); n != 1 {
			t.Errorf("reading a record took %d requests", n)
		}
		apply(t, s, revision)
		if log := c.requests(); len(log) > want {
			t.Errorf("revision %d took %d requests, want %d:\n%s", revision, len(log), want, strings.Join(log, "\n"))
		}
	}
}

// The namespace goes away between reading and writing, and while a record is open.
func TestDeletedNamespace(t *testing.T) {
	s := kube.New(connect(t), cluster)
	apply(t, s, 1)
	dropNamespace(t)
	r := storetest.Record(t, 2)
	_, h, err := s.Current(t.Context(), r.Owner)
	if err != nil || h != "" {
		t.Fatalf("%q %v", h, err)
	}
	apply(t, s, 1)
	if _, h, err = s.Current(t.Context(), r.Owner); err != nil {
		t.Fatal(err)
	}
	dropNamespace(t)
	if _, err := s.Put(t.Context(), r, storetest.Objects(1, "x"), h); !errors.Is(err, release.ErrConflict) {
		t.Errorf("error %v, want a conflict: the record is gone", err)
	}
	if err := s.Delete(t.Context(), r.Owner, h); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	apply(t, s, 1)
}

// A lock that is held when its Lease goes away is lost at the next renewal.
func TestDeletedLease(t *testing.T) {
	t.Parallel()
	s, owner := kube.New(connect(t), cluster), storetest.Record(t, 1).Owner
	lock, err := s.Lock(t.Context(), owner, "ann", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := admin(t).CoordinationV1().Leases(object.SystemNamespace).Delete(t.Context(), "hawser-"+owner, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lock.Context().Done():
	case <-time.After(2 * time.Minute):
		t.Fatal("the context goes on")
	}
	if cause := lockCause(lock); !errors.Is(cause, release.ErrLost) {
		t.Errorf("cause %v", cause)
	}
	if err := lock.Unlock(t.Context()); !errors.Is(err, release.ErrLost) {
		t.Errorf("unlock: %v", err)
	}
}

// What a user may not do is named, right by right.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	apply(t, kube.New(connect(t), cluster), 1)
	owner := storetest.Record(t, 1).Owner
	all := []string{"get", "list", "create", "update", "delete"}
	for _, c := range []struct{ name, want, reason string }{
		{"nothing", "the right to get secrets hawser-system/hawser-" + owner + " is missing", "the first request is a read"},
		{"secrets get", "the right to create leases.coordination.k8s.io hawser-system/hawser-" + owner, "the lock comes first"},
		{"secrets get leases *", "the right to update secrets hawser-system/hawser-" + owner, "the record comes next"},
		{"secrets get,update leases *", "the right to create secrets hawser-system/hawser-" + owner + "-r2-set", "then the Set"},
		{"secrets get,update,create leases *", "", "no right to list, nor to delete garbage, is needed here"},
	} {
		t.Run(strings.ReplaceAll(c.name, ",", "-"), func(t *testing.T) {
			user := strings.NewReplacer(" ", "-", ",", "-", "*", "all").Replace("user-" + c.name)
			words := strings.Fields(c.name)
			for i := 0; i+1 < len(words); i += 2 {
				verbs := strings.Split(words[i+1], ",")
				if verbs[0] == "*" {
					verbs = all
				}
				grant(t, user, words[i], verbs)
			}
			err := applyAs(t, user, owner)
			if c.want == "" {
				if err != nil {
					t.Fatalf("%v: %s", err, c.reason)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "cluster "+cluster) {
				t.Errorf("error %v, want %q: %s", err, c.want, c.reason)
			}
			if !apierrors.IsForbidden(err) {
				t.Errorf("the server's error is not inside: %v", err)
			}
		})
	}
}

// applyAs does what apply does, as a user, with the record of the owner.
func applyAs(t *testing.T, user, owner string) error {
	cfg, err := configOf(testfleet.Get().UserKubeconfig(t, user))
	if err != nil {
		t.Fatal(err)
	}
	s := kube.New(newClient(t, cfg), cluster)
	now, h, err := s.Current(t.Context(), owner)
	if err != nil {
		return err
	}
	lock, err := s.Lock(t.Context(), owner, user, time.Minute)
	if err != nil {
		return err
	}
	defer func() {
		if err := lock.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	r := *now
	r.Phase = release.Applying
	if h, err = s.Put(t.Context(), r, nil, h); err != nil {
		return err
	}
	r.Phase, r.Revision = release.Succeeded, 2
	_, err = s.Put(t.Context(), r, storetest.Objects(1, "x"), h)
	return err
}

// grant lets a user do something with a resource in hawser-system.
func grant(t *testing.T, user, resource string, verbs []string) {
	group := ""
	if resource == "leases" {
		group = "coordination.k8s.io"
	}
	rbac := admin(t).RbacV1()
	meta := metav1.ObjectMeta{Name: user + "-" + resource, Namespace: object.SystemNamespace}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}}}
	if _, err := rbac.Roles(meta.Namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}}
	if _, err := rbac.RoleBindings(meta.Namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// secrets are the names of a bundle's Secrets.
func secrets(t testing.TB, owner string) []string {
	t.Helper()
	list, err := admin(t).CoreV1().Secrets(object.SystemNamespace).List(t.Context(), metav1.ListOptions{LabelSelector: object.LabelOwner + "=" + owner})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range list.Items {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return out
}

// What is stored is as documented: for kubectl users, for RBAC, and for the next version of Hawser.
func TestLayout(t *testing.T) {
	t.Parallel()
	apply(t, kube.New(connect(t), cluster), 1)
	r := storetest.Record(t, 1)
	names := secrets(t, r.Owner)
	if len(names) != 2 || names[0] != "hawser-"+r.Owner || !strings.HasPrefix(names[1], "hawser-"+r.Owner+"-r1-set-") {
		t.Fatalf("Secrets %v", names)
	}
	for i, part := range []string{"current", "set"} {
		s, err := admin(t).CoreV1().Secrets(object.SystemNamespace).Get(t.Context(), names[i], metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"hawser.dev/record": part, "hawser.dev/owner": r.Owner, "hawser.dev/bundle": r.Bundle,
			"app.kubernetes.io/managed-by": "hawser"}
		if diff := cmp.Diff(want, s.Labels); diff != "" {
			t.Error(diff)
		}
		immutable := s.Immutable != nil && *s.Immutable
		if s.Type != corev1.SecretType("hawser.dev/record") || immutable != (part == "set") {
			t.Errorf("type %s, immutable %t", s.Type, immutable)
		}
		if s.Annotations["hawser.dev/revision"] != fmt.Sprint(r.Revision) {
			t.Errorf("annotations %v", s.Annotations)
		}
	}
}
