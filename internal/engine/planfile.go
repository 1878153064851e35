package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/maskguard"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/staleplan"
)

// SavePlan writes the plan as a file and returns the file's digest. Warnings say that it could not be sealed.
func (e *Engine) SavePlan(fp *Prepared, w io.Writer) (string, diag.Findings, error) {
	r := fp.run
	if r == nil {
		return "", nil, fmt.Errorf("only a plan that was made here can be saved")
	}
	if r.input.Once != "" {
		return "", nil, fmt.Errorf("a plan of %s cannot be saved: it could not be rendered again", r.input.Once)
	}
	for _, cp := range fp.Clusters {
		w := fp.works[cp.Cluster]
		if w == nil {
			continue
		}
		if names := w.set.MadeNames(); len(names) > 0 {
			return "", nil, fmt.Errorf("the plan cannot be saved: what is made up when it is applied decides which objects there are (%s on %s); apply without a plan file first",
				names[0], cp.Cluster)
		}
	}
	file := planfile.File{Salt: planfile.NewSalt()}
	digests := planfile.NewDigests(file.Salt)
	s := fleetplan.Decided{Paths: r.input.Paths, Selection: r.req.Selection, PlanOptions: r.req.PlanOptions, Context: r.req.Access.Context, Inputs: r.inputs(digests)}
	if fp.RollbackTo != nil { // the one before the newest may be another one then
		s.To = fp.RollbackTo.Rollout
	}
	var err error
	if file.Request, err = json.Marshal(s); err != nil {
		return "", nil, err
	}
	if file.Plan, err = fp.written(digests); err != nil {
		return "", nil, err
	}
	var warnings diag.Findings
	key, err := e.PlanKey.Make()
	if err != nil {
		f := diag.Warnf("unsealed-plan", "the plan file is not sealed: %s", err)
		f.Why = "plan show cannot tell whether it is changed; apply compares all of it with a plan computed anew"
		warnings = append(warnings, f)
	}
	text, err := file.Encode(key)
	if err != nil {
		return "", warnings, err
	}
	_, err = w.Write(text)
	return planfile.Digest(text), warnings, err
}

// inputs are the digests of everything the plan was read from, as a file has them.
func (r *run) inputs(digests *planfile.Digests) planfile.Inputs {
	files, sources := r.files.Read(), map[string]string{}
	maps.Copy(files, r.input.Files)
	for _, u := range r.sources.Used() {
		sources[r.Redactor.Sweep(u.Key())] = u.Resolved.Digest // repositories may hold a password
	}
	return planfile.NewInputs(r.input.Dir, files, sources).With(r.environment(), digests)
}

// written is the plan as a file has it: digests of what holds secrets keyed, and every text redacted.
func (fp *Prepared) written(digests *planfile.Digests) ([]byte, error) {
	out := fp.promised()
	for _, cp := range out.Clusters {
		w := fp.works[cp.Cluster]
		if w == nil {
			continue
		}
		bodies := w.bodies()
		for j := range cp.Plan.Changes {
			ch := &cp.Plan.Changes[j]
			body, ok := bodies[ch.Ref]
			ch.Keyed(!ok || maskguard.Holds(body, fp.run.Redactor), staleplan.Hides(*ch), maskguard.KeysHoldSecret(body, fp.run.Redactor), digests.Key)
		}
	}
	out.Groups = nil // made of the changes by whoever reads them
	return json.Marshal(out)
}

// ReadPlan reads a saved plan for showing it; it contacts nothing and cannot be applied. A file that was changed after this
// user's hawser wrote it is an error, one that nothing vouches for has a warning among its findings.
func (e *Engine) ReadPlan(in io.Reader) (*fleetplan.FleetPlan, error) {
	fp, _, _, err := e.readPlan(in)
	return fp, err
}

func (e *Engine) readPlan(in io.Reader) (fp *fleetplan.FleetPlan, s fleetplan.Decided, file *planfile.File, err error) {
	if file, err = planfile.Decode(in); err != nil {
		return nil, s, nil, err
	}
	key, err := e.PlanKey.Read()
	if err != nil {
		return nil, s, nil, err
	}
	if fp, err = fleetplan.Read(file, key); err != nil {
		return nil, s, nil, err
	}
	s, err = fleetplan.Requested(file)
	return fp, s, file, err
}

// LoadPlan makes a saved plan ready to be applied: it computes the plan anew on every cluster, and refuses unless it is the
// saved one. What is carried out is the new one; nothing is done because the file says so.
func (e *Engine) LoadPlan(ctx context.Context, in io.Reader, req Request) (*Prepared, error) {
	old, s, file, err := e.readPlan(in)
	if err != nil {
		return nil, err
	}
	key, _ := e.PlanKey.Read() // was read before
	seal := file.Sealed(key)
	documents, findings := req.documents().Saved(s, seal == planfile.Sound)
	if len(findings) > 0 {
		return nil, &fleetplan.RefusedError{Findings: findings}
	}
	refused, mistaken := s.Repeated(req.PlanOptions, seal)
	switch {
	case len(mistaken) > 0:
		return nil, mistaken.Err()
	case len(refused) > 0:
		return nil, &fleetplan.RefusedError{Findings: refused}
	}
	s.Locked = s.Locked || req.Locked && seal != planfile.Sound
	req.Documents, req.Selection, req.PlanOptions, req.absent, req.shown = documents, s.Selection, s.Options(req.PlanOptions), old.Absent(), fleetplan.Shown{Plan: old, ID: s.ID}
	req.Access.Context = cmp.Or(s.Context, req.Access.Context)
	now, err := e.Plan(ctx, req.For(fleetplan.Named(old.Verb)))
	if err != nil {
		return nil, err
	}
	now.Resume(old, s.ID, req.ConfirmDelete, req.Wait)
	digests := planfile.NewDigests(file.Salt)
	if findings = s.Inputs.Compare(now.run.inputs(digests)); len(findings) == 0 {
		findings = fleetplan.Verify(old, now.promised(), digests.Same, seal != planfile.Sound)
	}
	if len(findings) > 0 {
		now.run.close()
		return nil, &fleetplan.RefusedError{Findings: findings.Sorted()}
	}
	now.Findings = append(now.Findings, old.Unsealed()...) // who confirms is told, too
	now.run.decided = &s
	now.Files, now.FleetFiles, now.Context = s.Files, s.FleetFiles, s.Context
	return now, nil
}

// promised is the plan as a file can have it.
func (p *Prepared) promised() *fleetplan.FleetPlan {
	return p.With(func(cp *fleetplan.ClusterPlan) {
		if w := p.works[cp.Cluster]; w != nil {
			cp.Promise(w.set.Stood)
		}
	})
}
