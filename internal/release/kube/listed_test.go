package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
)

// shelf keeps Secrets in memory, as an API server with one client does. between is called once, before an overflow Secret
// is read.
type shelf struct {
	secrets map[string]corev1.Secret
	writes  int
	between func()
}

func (c *shelf) Get(_ context.Context, path string, query url.Values, into any) error {
	name := path[strings.LastIndex(path, "/")+1:]
	if name == "secrets" {
		selector, err := labels.Parse(query.Get("labelSelector"))
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(c.secrets)) {
			if s := c.secrets[name]; selector.Matches(labels.Set(s.Labels)) {
				into.(*corev1.SecretList).Items = append(into.(*corev1.SecretList).Items, s)
			}
		}
		return nil
	}
	if between := c.between; strings.Contains(name, "-overflow-") && between != nil {
		c.between = nil
		between()
	}
	s, ok := c.secrets[name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	*into.(*corev1.Secret) = s
	return nil
}

func (c *shelf) Post(_ context.Context, _ string, _ url.Values, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	if s, ok := into.(*corev1.Secret); ok {
		c.writes++
		s.ResourceVersion, s.UID = fmt.Sprint(c.writes), "u"
		c.secrets[s.Name] = *s
	}
	return nil
}

func (c *shelf) Put(ctx context.Context, path string, query url.Values, body, into any) error {
	return c.Post(ctx, path, query, body, into)
}

func (c *shelf) Delete(_ context.Context, path string, _ any) error {
	delete(c.secrets, path[strings.LastIndex(path, "/")+1:])
	return nil
}

// A record that is written anew, or deleted, between the LIST of the heads and the GET of its parts is no record that cannot
// be read.
func TestRecordWrittenWhileListed(t *testing.T) {
	c := &shelf{secrets: map[string]corev1.Secret{}}
	writer := kube.SmallChunks(kube.New(c, "c"), 200)
	write := func(revision int, h release.RecordVersion) release.RecordVersion {
		h, err := writer.Put(t.Context(), storetest.Record(t, revision), nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := write(1, "")
	c.between = func() { h = write(3, write(2, h)) } // the second one deletes the parts of the first
	if all, err := bundles(t, kube.New(c, "c")); err != nil || len(all) != 1 || all[0].Revision != 3 {
		t.Errorf("written anew: %d records, %v", len(all), err)
	}
	c.between = func() {
		if err := writer.Delete(t.Context(), storetest.Record(t, 1).Owner, h); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := bundles(t, kube.New(c, "c")); err != nil || len(all) != 0 {
		t.Errorf("deleted: %d records, %v", len(all), err)
	}

	h = write(4, "") // whoever writes often is not taken for damage
	var again func(n int) func()
	again = func(n int) func() {
		return func() {
			if h = write(n+2, write(n+1, h)); n < 20 {
				c.between = again(n + 2)
			}
		}
	}
	c.between = again(4)
	if all, err := bundles(t, kube.New(c, "c")); err != nil || len(all) != 1 || all[0].Revision != 22 {
		t.Errorf("written again and again: %+v, %v", all, err)
	}
	maps.DeleteFunc(c.secrets, func(name string, _ corev1.Secret) bool { return !strings.Contains(name, "lease") })

	h = write(4, "") // a part that is missing for good is told
	maps.DeleteFunc(c.secrets, func(name string, _ corev1.Secret) bool { return strings.Contains(name, "-overflow-") })
	if all, err := bundles(t, kube.New(c, "c")); err == nil || len(all) != 0 || !strings.Contains(err.Error(), "part of it is missing") {
		t.Errorf("damaged: %d records, %v", len(all), err)
	}
	if _, err := writer.Put(t.Context(), storetest.Record(t, 5), nil, h); err != nil {
		t.Error(err)
	}
}

// bundles are all records of a store.
func bundles(t *testing.T, s release.Store) (all []release.Record, err error) {
	t.Helper()
	err = s.Bundles(t.Context(), func(r release.Record) error {
		all = append(all, r)
		return nil
	})
	return all, err
}
