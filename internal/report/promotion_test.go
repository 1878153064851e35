package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/promotion"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

// shopPromotion is the promotion of a chart, an image and a module from staging to production.
func shopPromotion() *promotion.Promotion {
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	return &promotion.Promotion{V: diag.DocumentVersion, Bundle: "shop", Release: release.Name{Release: 42, Rollout: "7K2M3XYZ"}, Commit: "0123456789abcdef", Finished: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC),
		From: promotion.Side{Fleet: "shop", Names: []string{"staging"}, Clusters: []string{"staging-eu"}}, To: promotion.Side{Fleet: "shop", Names: []string{"production"}, Clusters: []string{"production-eu", "production-us"}},
		Instances: []promotion.Instance{
			{Instance: "api", Clusters: []string{"production-eu", "production-us"}, Source: source.Describe("helm oci://registry.example.com/charts/api 2.4.1"), How: promotion.Pinned,
				From: lockfile.Pin{Version: "2.3.0", Digest: digest("a")}, To: lockfile.Pin{Version: "2.4.1", Digest: digest("b")}, Images: []string{"registry.example.com/api:2.4.1"},
				Values: []promotion.Value{{Path: "image.tag", From: "2.3.0", To: "2.4.1", Pos: diag.Pos{File: "shop.yaml", Line: 19, Column: 15}}}},
			{Instance: "config", Clusters: []string{"production-eu", "production-us"}, Source: source.Describe("manifests oci://registry.example.com/config stable"), How: promotion.Pinned,
				From: lockfile.Pin{Version: "stable", Digest: digest("c")}, To: lockfile.Pin{Version: "stable", Digest: digest("d")}},
			{Instance: "web", Clusters: []string{"production-eu"}, Source: source.Describe("module file://./web 0.0.0-devel"), How: promotion.Local,
				From: lockfile.Pin{Version: "0.0.0-devel", Digest: digest("e")}, To: lockfile.Pin{Version: "0.0.0-devel", Digest: digest("e")}},
		},
		Files: []promotion.File{promotion.NewFile("shop.yaml", "values:\n  image:\n    tag: 2.3.0 # the board says when\n", "values:\n  image:\n    tag: 2.4.1 # the board says when\n", 0)},
	}
}

// TestPromoted: what a promotion means and writes, at two widths; whether it wrote, had nothing to write, or is refused.
func TestPromoted(t *testing.T) {
	for name, st := range map[string]Style{"wide": wideStyle, "narrow": narrowStyle} {
		golden(t, "promotion/dry."+name+".txt", text(t, func(b *bytes.Buffer) error { return Promoted(b, shopPromotion(), st) }))
	}
	for want, change := range map[string]func(*promotion.Promotion){
		"1 file written": func(p *promotion.Promotion) { p.Written = true },
		"The files say it already; nothing is to be written.": func(p *promotion.Promotion) { p.Files = nil },
		"Nothing is written.": func(p *promotion.Promotion) {
			p.Findings = diag.Findings{diag.Errorf(promotion.CodeWritten, "web is another source for production-eu")}
		},
	} {
		p := shopPromotion()
		change(p)
		if got := text(t, func(b *bytes.Buffer) error { return Promoted(b, p, wideStyle) }); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// shopBetween are staging and production with different releases; one of production does not answer, and one has an object more.
func shopBetween() *history.Between {
	rec := func(release_ int, version, group string, cluster string) release.Record {
		return release.Record{Bundle: "shop", Owner: "o", Revision: 1, Release: release_, Rollout: "R" + version, Phase: release.Succeeded, SetDigest: "sha256:" + version + cluster,
			Sources: map[string]string{"api": "helm oci://registry.example.com/charts/api " + version}, Digests: map[string]string{"api": "sha256:" + strings.Repeat(version[2:3], 64)},
			Images: map[string][]string{"api": {"registry.example.com/api:" + version}}, Origins: map[string]string{"GROUP": group + " (fleet)"}}
	}
	clusters := []history.Cluster{
		{Name: "staging-eu", Group: "staging", Bundles: []history.Kept{{Records: []release.Record{rec(42, "2.4.1", "staging", "")}}}},
		{Name: "production-eu", Group: "production", Bundles: []history.Kept{{Records: []release.Record{rec(41, "2.3.0", "production", "")}}}},
		{Name: "production-us", Group: "production", Bundles: []history.Kept{{Records: []release.Record{rec(41, "2.3.0", "production", "us")}}}},
		{Name: "production-ap", Group: "production", Unreachable: "i/o timeout"},
	}
	b := &history.Between{From: history.Side{Name: "staging", Clusters: []string{"staging-eu"}}, To: history.Side{Name: "production", Clusters: []string{"production-eu", "production-us", "production-ap"}}}
	if err := b.Find(clusters, ""); err != nil {
		panic(err)
	}
	body := func(kind, name, key, value string) object.Object {
		return object.Object{Instance: "api", Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "shop"}, "data": map[string]any{key: value}}}
	}
	there := []object.Object{body("ConfigMap", "api", "image", "registry.example.com/api:2.4.1"), body("Secret", "token", "token", "YQ==")}
	here := []object.Object{body("ConfigMap", "api", "image", "registry.example.com/api:2.3.0"), body("Secret", "token", "token", "Yg==")}
	for _, row := range b.Rows() {
		switch {
		case row.Unknown != "":
		case row.Cluster == "production-us":
			row.Change(there, append(here, body("ConfigMap", "us", "a", "b")), true, strings.Clone)
		default:
			row.Change(there, here, true, strings.Clone)
		}
	}
	b.Regroup(redact.New(), nil)
	return b
}

// TestBetween: what two sides run, at two widths; nothing secret is shown.
func TestBetween(t *testing.T) {
	for name, st := range map[string]Style{"wide": wideStyle, "narrow": narrowStyle} {
		got := text(t, func(b *bytes.Buffer) error { return Between(b, shopBetween(), st) })
		golden(t, "promotion/between."+name+".txt", got)
		if strings.Contains(got, "YQ==") || strings.Contains(got, "Yg==") {
			t.Error("a secret is shown")
		}
	}
	if got := text(t, func(b *bytes.Buffer) error { return Between(b, &history.Between{V: diag.DocumentVersion}, wideStyle) }); !strings.Contains(got, "Nothing was delivered to either.") {
		t.Errorf("%s", got)
	}
}
