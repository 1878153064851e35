package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/render"
)

// BuildItem is one rendered instance for one cluster, unmarked objects as the source gives them.
type BuildItem struct {
	Instance string          `json:"instance"`
	Cluster  string          `json:"cluster"`
	Objects  []object.Object `json:"-"`
}

// BuildResult is what build prints: items by instance, then cluster.
type BuildResult struct {
	Bundle       string
	Items        []BuildItem
	MultiCluster bool
	Findings     diag.Findings
}

// ClusterValues is the evaluated bundle for one cluster, as CUE text.
type ClusterValues struct {
	Cluster string `json:"cluster"`
	Bundle  string `json:"bundle"`
}

// VetReport is what vet found. Declared tells whether the clusters are declared by a fleet.
type VetReport struct {
	Bundle    string          `json:"bundle"`
	Declared  bool            `json:"declared"`
	Clusters  []ClusterValues `json:"clusters"`
	Instances []string        `json:"instances"`
	Findings  diag.Findings   `json:"findings,omitempty"`
}

// offline decides whether vet and build can do without clusters: a facts file, or a program that reads no queries.
func (r *run) facts(ctx context.Context, connect bool) error {
	switch {
	case r.req.FactsFile != "":
		return r.loadFacts()
	case connect:
		if err := r.connect(ctx, true); err != nil {
			return err
		}
		for _, t := range r.targets {
			if t.unreachable != "" {
				f := diag.Errorf("unreachable", "the cluster does not answer: %s", t.unreachable)
				f.Cluster, f.Fix = t.cluster.Name, "use facts saved earlier with: --facts FILE (hawser fleet snapshot)"
				return diag.Findings{f}.Err()
			}
		}
		return nil
	}
	for _, t := range r.targets {
		t.facts = r.offlineFacts(t.cluster)
		t.facts.Version = os.Getenv("TIMONI_KUBE_VERSION")
		if t.facts.Version == "" {
			t.facts.Version = defaultKubeVersion
		}
	}
	return nil
}

// defaultKubeVersion is taken by a build without a cluster, as Timoni does.
const defaultKubeVersion = "1.36.3"

func (r *run) loadFacts() error {
	data, err := os.ReadFile(r.req.FactsFile)
	if err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	var snap fleet.Snapshot
	if err := json.Unmarshal(data, &snap); err != nil {
		return fmt.Errorf("facts %s: %w", r.req.FactsFile, err)
	}
	for _, t := range r.targets {
		i := slices.IndexFunc(snap.Clusters, func(f fleet.Facts) bool { return f.Name == t.cluster.Name })
		if i < 0 {
			f := diag.Errorf("no-facts", "%s has no facts of the cluster", r.req.FactsFile)
			f.Cluster, f.Fix = t.cluster.Name, "take them with: hawser fleet snapshot"
			return diag.Findings{f}.Err()
		}
		t.facts = snap.Clusters[i]
	}
	return nil
}

// Build renders the bundle for every selected cluster. A fleet's clusters are asked for their facts, unless a facts
// file says them; without a fleet nothing is contacted.
func (e *Engine) Build(ctx context.Context, req Request) (*BuildResult, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.facts(ctx, r.needsClusters()); err != nil {
		return nil, err
	}
	out := &BuildResult{MultiCluster: len(r.targets) > 1}
	type rendered struct {
		names []string
		objs  map[string][]object.Object
	}
	results := make([]rendered, len(r.targets))
	for i, t := range r.targets {
		spec, findings := r.specFor(t.facts)
		out.Findings = append(out.Findings, findings.OnCluster(t.cluster.Name)...)
		if findings.HasErrors() {
			continue
		}
		out.Bundle = spec.Name
		s, fs := r.prepare(ctx, t, spec)
		if !fs.HasErrors() {
			fs = append(fs, r.fill(ctx, t, s)...)
		}
		out.Findings = append(out.Findings, fs.OnCluster(t.cluster.Name)...)
		results[i].objs = map[string][]object.Object{}
		for _, p := range s.parts {
			results[i].names = append(results[i].names, p.instance.Name)
			if res, err := r.memo.Render(ctx, p.renderer, p.key, p.request); err == nil {
				results[i].objs[p.instance.Name] = res.Objects
			}
		}
	}
	if err := out.Findings.Err(); err != nil {
		return nil, err
	}
	var order []string
	for _, res := range results {
		for _, n := range res.names {
			if !slices.Contains(order, n) {
				order = append(order, n)
			}
		}
	}
	for _, name := range order {
		for i, t := range r.targets {
			if slices.Contains(results[i].names, name) {
				out.Items = append(out.Items, BuildItem{Instance: name, Cluster: t.cluster.Name, Objects: results[i].objs[name]})
			}
		}
	}
	return out, nil
}

// needsClusters reports whether evaluation needs what only the clusters know.
func (r *run) needsClusters() bool {
	return r.fleet != nil && (len(r.fleet.Values) > 0 || r.program.UsesFacts())
}

// Vet loads, resolves and renders for every selected cluster and checks the result against the clusters' APIs where
// they are reachable or their facts are given.
func (e *Engine) Vet(ctx context.Context, req Request) (*VetReport, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.facts(ctx, r.needsClusters()); err != nil {
		return nil, err
	}
	out := &VetReport{Declared: r.fleet != nil && len(r.fleet.Clusters) > 0, Findings: r.program.Lint(r.all)}
	for _, t := range r.targets {
		spec, findings := r.specFor(t.facts)
		if !findings.HasErrors() {
			s, fs := r.prepare(ctx, t, spec)
			findings = append(findings, fs...)
			if !findings.HasErrors() {
				findings = append(findings, r.fill(ctx, t, s)...)
			}
			out.Bundle = spec.Name
			for _, in := range spec.Instances {
				if !slices.Contains(out.Instances, in.Name) {
					out.Instances = append(out.Instances, in.Name)
				}
			}
			for _, p := range s.parts {
				if res, err := r.memo.Render(ctx, p.renderer, p.key, p.request); err == nil {
					findings = append(findings, render.Vet(res.Objects)...)
				}
			}
		}
		out.Findings = append(out.Findings, findings.OnCluster(t.cluster.Name)...)
		text, fs := r.program.Value(t.facts)
		if !fs.HasErrors() {
			out.Clusters = append(out.Clusters, ClusterValues{Cluster: t.cluster.Name, Bundle: text})
		}
	}
	out.Findings = out.Findings.Sorted()
	if len(out.Instances) == 0 && !out.Findings.HasErrors() {
		out.Findings = append(out.Findings, diag.Errorf("no-instances", "no instances found in bundle"))
	}
	return out, out.Findings.Err()
}

// Explain says which layer decided an instance's value on one cluster: path is INSTANCE.PATH.
func (e *Engine) Explain(ctx context.Context, req Request, path string) ([]place.Explanation, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.facts(ctx, r.needsClusters()); err != nil {
		return nil, err
	}
	var out []place.Explanation
	for _, t := range r.targets {
		spec, findings := r.specFor(t.facts)
		if err := findings.OnCluster(t.cluster.Name).Err(); err != nil {
			return nil, err
		}
		ex, fs := place.Explain(spec, t.cluster, t.facts, path)
		if err := fs.OnCluster(t.cluster.Name).Err(); err != nil {
			return nil, err
		}
		out = append(out, ex...)
	}
	return out, nil
}
