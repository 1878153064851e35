package engine

import (
	"bytes"
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// planFile is a saved plan: changes, digests and what was observed, no bodies. Digests of objects that hold secrets
// are keyed (PBKDF2 with the file's salt), so that the file cannot be used to guess short secrets cheaply.
type planFile struct {
	V       int        `json:"v"` // 1
	Kind    string     `json:"kind"`
	Salt    string     `json:"salt"`
	Request saved      `json:"request"`
	Plan    *FleetPlan `json:"plan"`
}

// saved is the part of a request that a plan depends on.
type saved struct {
	Files          []string        `json:"files"`
	FleetFiles     []string        `json:"fleet,omitempty"`
	Workdir        string          `json:"workdir,omitempty"`
	Package        string          `json:"package,omitempty"`
	Name           string          `json:"name,omitempty"`
	Namespace      string          `json:"namespace,omitempty"`
	Bundle         string          `json:"bundle,omitempty"`
	RuntimeFromEnv bool            `json:"runtimeFromEnv,omitempty"`
	Selection      fleet.Selection `json:"selection"`
	Context        string          `json:"context,omitempty"`
	Rotate         []string        `json:"rotate,omitempty"`
	Adopt          bool            `json:"adopt,omitempty"`
	TakeOver       bool            `json:"takeOver,omitempty"`
	AcceptClusters []string        `json:"acceptClusters,omitempty"`
	Recreate       bool            `json:"recreate,omitempty"`
	SkipWaves      bool            `json:"skipWaves,omitempty"`
	UntilWave      int             `json:"untilWave,omitempty"`
	ConfirmDelete  *int            `json:"confirmDelete,omitempty"`
	Tests          bool            `json:"tests,omitempty"`
	NoHooks        bool            `json:"noHooks,omitempty"`
}

const (
	planFileKind = "hawser.dev/plan"
	// planFileLimit bounds what is read: 64 MiB.
	planFileLimit = 64 << 20
	// keyRounds of PBKDF2-HMAC-SHA256 for one digest.
	keyRounds = 100_000
)

// SavePlan writes the plan as a file and returns the file's digest.
func (e *Engine) SavePlan(fp *FleetPlan, w io.Writer) (string, error) {
	req := fp.run.req
	if len(req.Files) > 0 && req.Files[0] == "-" {
		return "", fmt.Errorf("a plan of documents from standard input cannot be saved: it could not be rendered again")
	}
	for _, cp := range fp.Clusters {
		if cp.work == nil {
			continue
		}
		if names := cp.work.set.madeNames(); len(names) > 0 {
			return "", fmt.Errorf("the plan cannot be saved: what is made up when it is applied decides which objects there are (%s on %s); apply without a plan file first",
				join(names), cp.Cluster)
		}
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	keys := keyring{salt: salt}
	file := planFile{V: 1, Kind: planFileKind, Salt: hex.EncodeToString(salt), Plan: e.keyed(fp, keys), Request: saved{
		Files: req.Files, FleetFiles: req.FleetFiles, Workdir: req.Workdir, Package: req.Package, Name: req.Name, Namespace: req.Namespace,
		Bundle: req.Bundle, RuntimeFromEnv: req.RuntimeFromEnv, Selection: req.Selection, Context: req.Access.Context, Rotate: req.Rotate,
		Adopt: req.Adopt, Recreate: req.Recreate, SkipWaves: req.SkipWaves, UntilWave: req.UntilWave,
		ConfirmDelete: req.ConfirmDelete, Tests: req.Tests, NoHooks: req.NoHooks,
		TakeOver: req.TakeOver, AcceptClusters: req.AcceptClusters}}
	data, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return "", err
	}
	data = append(data, '\n')
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// keyed is a copy of the plan in which digests of objects that hold secrets are keyed.
func (e *Engine) keyed(fp *FleetPlan, keys keyring) *FleetPlan {
	out := *fp
	out.Clusters = make([]*ClusterPlan, len(fp.Clusters))
	for i, cp := range fp.Clusters {
		c := *cp
		if cp.Plan != nil {
			p := *cp.Plan
			p.Changes = append([]plan.Change{}, cp.Plan.Changes...)
			bodies := cp.work.bodies()
			for j := range p.Changes {
				ch := &p.Changes[j]
				if stood, ok := cp.work.set.stood[ch.Ref]; ok { // what is made up is made anew when the plan is applied
					ch.Digest = stood
				}
				if body, ok := bodies[ch.Ref]; ok && e.holdsSecret(body) {
					ch.Digest = keys.key(ch.Digest)
				}
			}
			c.Plan = &p
		}
		out.Clusters[i] = &c
	}
	out.order()
	return &out
}

// holdsSecret: a Secret, or an object in which a value known to be secret turns up.
func (e *Engine) holdsSecret(o object.Object) bool {
	if o.Ref().IsSecret() || len(o.Sensitive) > 0 {
		return true
	}
	data, err := json.Marshal(o.Body)
	return err != nil || e.redact(string(data)) != string(data)
}

type keyring struct {
	salt []byte
	done map[string]string
}

func (k *keyring) key(digest string) string {
	if v, ok := k.done[digest]; ok {
		return v
	}
	sum, err := pbkdf2.Key(sha256.New, digest, k.salt, keyRounds, 32)
	if err != nil {
		return "keyed:unavailable"
	}
	if k.done == nil {
		k.done = map[string]string{}
	}
	k.done[digest] = "keyed:" + hex.EncodeToString(sum)
	return k.done[digest]
}

// ReadPlan reads a saved plan for showing it; it contacts nothing and cannot be applied.
func ReadPlan(r io.Reader) (*FleetPlan, error) {
	file, err := readPlanFile(r)
	if err != nil {
		return nil, err
	}
	return file.Plan, nil
}

func readPlanFile(r io.Reader) (*planFile, error) {
	data, err := io.ReadAll(io.LimitReader(r, planFileLimit+1))
	if err != nil {
		return nil, err
	}
	if len(data) > planFileLimit {
		return nil, fmt.Errorf("the plan file is larger than %d MiB", planFileLimit>>20)
	}
	var file planFile
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("this is not a plan file: %w", err)
	}
	switch {
	case file.Kind != planFileKind:
		return nil, fmt.Errorf("this is not a plan file: kind is %q, not %q", file.Kind, planFileKind)
	case file.V != 1:
		return nil, fmt.Errorf("the plan file has version %d; this hawser reads version 1", file.V)
	case file.Plan == nil || file.Plan.Verb == "" || file.Plan.Bundle == "":
		return nil, fmt.Errorf("the plan file holds no plan")
	}
	for i, cp := range file.Plan.Clusters {
		if cp == nil {
			return nil, fmt.Errorf("the plan file is damaged: cluster %d is empty", i+1)
		}
	}
	return &file, nil
}

// LoadPlan makes a saved plan ready to be applied: it renders again only to obtain the bodies, compares digests, and
// refuses on any difference of files, sources, clusters or digests. It never computes changes.
func (e *Engine) LoadPlan(ctx context.Context, in io.Reader, req Request) (*FleetPlan, error) {
	file, err := readPlanFile(in)
	if err != nil {
		return nil, err
	}
	fp, s := file.Plan, file.Request
	req.Files, req.FleetFiles, req.Workdir, req.Package, req.Name = s.Files, s.FleetFiles, s.Workdir, s.Package, s.Name
	req.Namespace, req.Bundle, req.RuntimeFromEnv, req.Selection = s.Namespace, s.Bundle, s.RuntimeFromEnv, s.Selection
	req.Adopt, req.Recreate, req.SkipWaves, req.UntilWave, req.ConfirmDelete = s.Adopt, s.Recreate, s.SkipWaves, s.UntilWave, s.ConfirmDelete
	req.Tests, req.NoHooks, req.TakeOver, req.AcceptClusters = s.Tests, s.NoHooks, s.TakeOver, s.AcceptClusters
	req.Rotate = s.Rotate
	if s.Context != "" {
		req.Access.Context = s.Context
	}
	var fresh *FleetPlan
	var r *run
	if fp.Verb == "delete" {
		if fresh, err = e.PlanDelete(ctx, req); err != nil {
			return nil, err
		}
		r = fresh.run
	} else {
		if r, err = e.load(ctx, req, true); err != nil {
			return nil, err
		}
		if err = r.connect(ctx, true); err != nil {
			r.close()
			return nil, err
		}
		r.formerName(ctx)
		r.late = map[string][]string{}
		for _, cp := range fp.Clusters {
			r.late[cp.Cluster] = cp.Late
		}
		fresh = &FleetPlan{run: r}
		e.desire(ctx, r, fresh)
		fresh.Head = r.head(r.used(ctx))
	}
	findings := fresh.Findings.Errors()
	if len(findings) == 0 {
		salt, _ := hex.DecodeString(file.Salt)
		findings = e.bind(ctx, fp, fresh, keyring{salt: salt})
	}
	if len(findings) > 0 {
		r.close()
		return nil, &RefusedError{Findings: findings}
	}
	fp.run = r
	return fp, nil
}

// bind attaches the fresh sessions and bodies to the saved plan, refusing on any difference.
func (e *Engine) bind(ctx context.Context, fp, fresh *FleetPlan, keys keyring) diag.Findings {
	if fp.Verb == "apply" && fp.Head != fresh.Head {
		f := diag.Errorf("stale-plan", "the bundle's files or sources changed since the plan was made")
		f.Why, f.Fix = "head was "+short(fp.Head)+", is "+short(fresh.Head), "plan again"
		return diag.Findings{f}
	}
	byName := map[string]*ClusterPlan{}
	for _, cp := range fresh.Clusters {
		byName[cp.Cluster] = cp
	}
	var findings diag.Findings
	for _, cp := range fp.Clusters {
		now := byName[cp.Cluster]
		switch {
		case now == nil:
			findings = append(findings, stale(cp, "the cluster is no longer in the fleet"))
		case cp.Later:
		case cp.Plan == nil:
			cp.Unreachable += " (when planned)"
		case now.work == nil:
			cp.Unreachable, cp.Plan = now.Unreachable, nil
		case now.UID != cp.UID:
			findings = append(findings, planned(cp, now))
		case now.Revision != cp.Revision:
			findings = append(findings, stale(cp, "it is at revision %d now, the plan was made at %d", now.Revision, cp.Revision))
		default:
			cp.work = now.work
			cp.Plan.Lives = plan.Begin(now.work.known(plan.Options{Deleting: fp.Verb == "delete"}), cp.Plan.Events)
			findings = append(findings, e.bindOne(ctx, cp, keys)...)
		}
	}
	return findings
}

func (e *Engine) bindOne(ctx context.Context, cp *ClusterPlan, keys keyring) diag.Findings {
	w := cp.work
	findings := w.run.renderLate(ctx, w, w.unrendered(cp.Plan))
	touched := map[object.Ref]bool{}
	findings = append(findings, w.recall(ctx, cp.Plan)...)
	digests := w.digests()
	for i, ch := range cp.Plan.Changes {
		touched[ch.Ref] = true
		if ch.Action == plan.Delete || ch.Action == plan.Release {
			continue
		}
		have := digests[ch.Ref]
		if stood, ok := w.set.stood[ch.Ref]; ok {
			cp.Plan.Changes[i].Digest, have = have, stood
		}
		if strings.HasPrefix(ch.Digest, "keyed:") && have != "" {
			have = keys.key(have)
		}
		if have != ch.Digest {
			f := stale(cp, "%s renders differently now", ch.Ref)
			f.Object = ch.Ref.String()
			findings = append(findings, f)
		}
	}
	if w.target.record != nil {
		for _, o := range w.target.record.Inventory {
			if !touched[o.Ref] {
				cp.Plan.Kept = append(cp.Plan.Kept, o)
			}
		}
	}
	w.input.Owned = cp.Plan.Kept
	return findings
}

// planned refuses a cluster that is not the one the plan was made for.
func planned(cp, now *ClusterPlan) diag.Finding {
	f := diag.Errorf(fleet.CodeWrongCluster, "this is not the cluster %s that the plan was made for", cp.Cluster)
	f.Why, f.Fix = "the plan is bound to "+cp.UID+", it has "+now.UID, "correct the context, or plan again with these credentials"
	return f
}

func short(digest string) string {
	if len(digest) > 19 {
		return digest[:19] + "…"
	}
	return digest
}
