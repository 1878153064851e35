package input

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/source"
)

// byAddress is a repository of charts whose content goes by the whole address.
type byAddress struct{}

func (byAddress) Schemes() []string { return nil }

func (byAddress) Resolve(_ context.Context, ref module.Reference) (module.Resolved, error) {
	return module.Resolved{Version: "2.0.0", Digest: digestOf(ref.URL)}, nil
}

// digestOf is that of the content below an address.
func digestOf(address string) string { return "sha256:" + hex.EncodeToString([]byte(address)) }

func (byAddress) Fetch(_ context.Context, ref module.Reference) (module.Content, error) {
	return module.Content{Version: ref.Version, Digest: ref.Digest}, nil
}

// keeps is a hawser.lock in memory.
type keeps struct{ f *lockfile.File }

func (k keeps) Learn(lockfile.News) error                          { return nil }
func (k keeps) Update(change func(lockfile.File) bool) error       { change(*k.f); return nil }
func (k keeps) UpdatePlaces(change func(lockfile.File) bool) error { return nil }

// TestPinsOfOthers: runs of bundles that have one hawser.lock, whose sources differ in a token alone. The pin of one is none for the other, is
// not changed by it, and stays with the bundle when its token is renewed; what is one content has one pin.
func TestPinsOfOthers(t *testing.T) {
	lock, err := lockfile.Read("")
	if err != nil {
		t.Fatal(err)
	}
	const key = "helm https://h/c?token=*** api ^2"
	docs := func(bundle, token, digest string) *Documents {
		d := Of(nil, v1alpha1.BundleSpec{Name: bundle, Instances: []v1alpha1.Instance{{Name: "app",
			Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://h/c?token=" + token, Version: "^2", Digest: digest}}}})
		d.Lock, d.Keeper, d.Path = lock, keeps{&lock}, "hawser.lock"
		return d
	}
	get := func(d *Documents) (source.Use, error) {
		specs, _ := d.Evaluate(fleet.Facts{Name: "eu"})
		r := &source.Resolver{Fetchers: map[string]module.Fetcher{"chart+https": byAddress{}}, Pins: d.Lock.Sources, Locked: true}
		return r.Get(t.Context(), specs[0].Instances[0])
	}
	pin := func(d *Documents, upgrade ...string) error {
		specs, _ := d.Evaluate(fleet.Facts{Name: "eu"})
		_, err := d.Pin(t.Context(), specs, &source.Resolver{Fetchers: map[string]module.Fetcher{"chart+https": byAddress{}}, Pins: d.Lock.Sources}, upgrade)
		return err
	}
	if err := pin(docs("a", "aa", "")); err != nil || lock.Sources[key].Digest != digestOf("chart+https://h/c?token=aa") {
		t.Fatal(err, lock.Sources)
	}
	for _, token := range []string{"aa", "renewed"} {
		if use, err := get(docs("a", token, "")); err != nil || use.State != source.Pinned {
			t.Errorf("%s: %+v, %v", token, use, err)
		}
	}
	if use, err := get(docs("b", "bb", "")); err == nil || !strings.Contains(err.Error(), "not pinned") {
		t.Errorf("the pin of another bundle: %+v, %v", use, err)
	}
	if err := pin(docs("b", "bb", "")); err == nil || !strings.Contains(err.Error(), "bundle a") || strings.Contains(err.Error(), "token=bb") {
		t.Errorf("the pin of another bundle is changed: %v, %v", err, lock.Sources)
	}
	if err := pin(docs("b", "bb", digestOf("chart+https://h/c?token=bb"))); err != nil || len(lock.Sources) != 2 {
		t.Errorf("with its digest: %v, %v", err, lock.Sources)
	}
	if err := pin(docs("c", "aa", "")); err != nil { // the same content
		t.Error(err)
	}
	if use, err := get(docs("c", "aa", "")); err != nil || use.State != source.Pinned {
		t.Errorf("%+v, %v", use, err)
	}
	if err := pin(docs("c", "cc", ""), "app"); err == nil {
		t.Error("an upgrade changes the pin of another bundle")
	}
}
