package cli

import (
	"context"
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/retirement"
	"hawser.dev/hawser/internal/rights"
)

// keeps are two releases on two clusters.
func (f *fake) keeps() []history.Cluster {
	rec := func(number int) release.Record {
		return release.Record{Bundle: "shop", Owner: "o", Revision: number, Release: number, Rollout: fmt.Sprint("7K2M", number), Phase: release.Succeeded,
			Started: epoch, Finished: epoch, Author: "ada@laptop", Sources: map[string]string{"api": "module oci://registry/api 1.0.0"}}
	}
	kept := []history.Kept{{Records: []release.Record{rec(2), rec(1)}}}
	out := []history.Cluster{{Name: "staging-eu", Bundles: kept}, {Name: "staging-us", Bundles: kept}}
	if f.what == "unreachable" {
		out[1] = history.Cluster{Name: "staging-us", Unreachable: "i/o timeout"}
	}
	return out
}

func (f *fake) History(_ context.Context, req engine.Request) (*history.History, error) {
	f.record(req)
	h := history.Of(f.keeps())
	if len(h.Unknown) > 0 {
		return h, fleetplan.ErrPartial
	}
	return h, nil
}

func (f *fake) Open(ctx context.Context, req engine.Request, _ bool) (*input.Documents, error) {
	return req.Documents.Open(ctx, input.Want{})
}

func (f *fake) Compare(_ context.Context, req engine.Request, c history.Comparer) error {
	f.record(req)
	if err := c.Find(f.keeps(), req.Bundle); err != nil {
		return err
	}
	for _, row := range c.Rows() {
		if row.Unknown == "" {
			row.Change(nil, nil, false, strings.Clone)
		}
	}
	c.Regroup(redact.New(), nil)
	return fleetplan.Unknown(len(c.Unknown()))
}

func (f *fake) fleet(req engine.Request) (*fleetplan.FleetReport, error) {
	f.record(req)
	r := &fleetplan.FleetReport{V: diag.DocumentVersion, Fleet: "shop", Clusters: []fleetplan.FleetRow{{Cluster: "staging-eu", Group: "staging", Wave: 1, Access: "context stg",
		Server: "https://10.0.0.1:6443", Version: "1.36.3", UID: "6f1c",
		Values: map[string]fleet.Value{"REGION": {Value: "eu", Origin: "k8s:v1:ConfigMap:default:cluster-info"}}}}}
	if f.what == "unreachable" {
		r.Clusters[0].Problem = "i/o timeout"
		r.Findings = diag.Findings{diag.Errorf("unreachable", "the cluster does not answer")}
		return r, r.Findings.Err()
	}
	if f.what == "one" {
		bad := diag.Errorf(fleet.CodeWrongCluster, "another one")
		bad.Cluster, r.Clusters[0].Problem = "staging-eu", "another one"
		r.Findings = fleet.Twice(diag.Findings{bad}, "staging-eu", "staging-us", "6f1c")
		return r, r.Findings.Err()
	}
	if f.what == "rights" || f.what == "undeletable" {
		for _, name := range []string{"staging-eu", "staging-us"} {
			w := diag.Warnf(rights.CodeDelete, "you could not delete Namespace shop")
			w.Cluster, w.Fix = name, "who is to delete it needs that"
			r.Findings = append(r.Findings, w)
		}
	}
	if f.what == "rights" {
		lacks := rights.Missing("staging-eu", rights.Own(rights.AnyName)[:1])
		r.Clusters[0].Missing, r.Findings = rights.Texts(lacks), append(r.Findings, lacks...)
	}
	return r, r.Findings.Err()
}

func (f *fake) Clusters(_ context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	return f.fleet(req)
}

func (f *fake) Check(_ context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	return f.fleet(req)
}

func (f *fake) Values(_ context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	return f.fleet(req)
}

func (f *fake) Retiring(_ context.Context, req engine.Request) (*retirement.Retirement, error) {
	f.record(req)
	out := &retirement.Retirement{V: diag.DocumentVersion, Fleet: "shop", Cluster: req.Retire, Bundles: []string{"base", "shop"}, Known: true, Lock: "hawser.lock"}
	return out, nil
}

func (f *fake) Retire(_ context.Context, req engine.Request) error {
	f.record(req)
	return nil
}

func (f *fake) Snapshot(_ context.Context, req engine.Request) (*fleet.Snapshot, error) {
	f.record(req)
	return &fleet.Snapshot{V: 1, Fleet: "shop", Clusters: []fleet.Facts{{Name: "staging-eu", Group: "staging", Version: "1.36.3"}}}, nil
}

func (f *fake) Say(_ context.Context, req engine.Request, verb string, meant release.Meant, confirm func(*release.Saying) error) (*release.Saying, error) {
	f.record(req)
	hold := &release.Hold{Bundle: req.Bundle, Release: 42, Rollout: "7K2M3XYZ", SourceDigest: "sha256:42", Author: "ada@laptop", Message: "a new image", Since: epoch, Wave: "wave 2 (production)"}
	on := []release.OnCluster{{Cluster: "production-eu", Hold: hold}, {Cluster: "production-us", Hold: hold}}
	switch {
	case f.what == "unreachable":
		on[1] = release.OnCluster{Cluster: "production-us", Unreachable: "i/o timeout"}
	case verb == release.Resume:
		hold.Paused = &release.Word{By: "bob@ci", At: epoch}
	}
	said, findings := release.Say(verb, req.Bundle, meant, release.Word{By: "ada@laptop", At: epoch, Message: req.Message}, on)
	if findings.HasErrors() {
		return nil, findings.Err()
	}
	if err := said.Agreed(confirm); err != nil {
		return nil, err
	}
	for i := range said.Clusters {
		if c := &said.Clusters[i]; c.Unreachable == "" {
			c.End(nil, strings.Clone)
		}
	}
	return said, fleetplan.Unknown(said.Missed())
}
