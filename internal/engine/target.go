package engine

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/retirement"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/validation"
	"hawser.dev/hawser/internal/values"
	"hawser.dev/hawser/internal/waitlist"
)

// connectTimeout is how long a cluster may take to answer before it is Unknown.
const connectTimeout = 10 * time.Second

// run is one verb's way through the pipeline: the loaded program and the clusters it goes to.
type run struct {
	*Engine
	// Redactor knows what is secret in this run.
	Redactor *redact.Redactor
	req      Request
	program  input.Program
	fleet    *v1alpha1.FleetSpec // nil without a fleet
	all      []fleet.Cluster     // every cluster of the fleet
	targets  []*target           // the selected ones, in fleet order
	stats    fleetplan.Stats
	// decided is what a saved plan decided, nil for one that was not saved.
	decided *fleetplan.Decided
	// proven: a bundle without a record on a cluster is this run's all the same. It is decided when all records were read, because they move
	// with the run.
	proven bool
	// observed is when all clusters had been compared.
	observed time.Time
	// warnings of gathering facts without clusters
	warnings diag.Findings
	sources  *source.Resolver
	marks    render.Marks
	reader   *values.Reader
	open     func(s *cluster.Session, name string) release.Store
	files    bind.Files
	// records: the records of the bundle are wanted.
	records bool
	// reading: nothing will be written, so that what cannot be read is unknown and no error.
	reading bool
	// aloof: it goes beside another run, which none of its clusters stops.
	aloof bool
	// lenient puts stand-ins where an object may not be read: nothing will be written.
	lenient bool
	// names: only the names of what is declared are wanted.
	names  bool
	beside beside
	waits  waitlist.List // what a look at all bundles finds
	// input is what the run is about; fresh the lineage that is made in this run.
	input *input.Documents
	fresh struct {
		once, kept sync.Once
		id         string
	}
	// unselected are the records of clusters that are not selected, as far as the gate has read them.
	unselected []*release.Record
}

// owner is the id of a bundle of the input's.
func (r *run) owner(bundle string) string { return r.req.Scope.Owner(bundle) }

// secretly is a context in which renderers and fetchers mask by what is secret in this run.
func (r *run) secretly(ctx context.Context) context.Context { return redact.With(ctx, r.Redactor) }

// uses reports whether the documents read the runtime value.
func (r *run) uses(name string) bool { return r.program.Uses(name) }

// target is one selected cluster on its way through the pipeline.
type target struct {
	desired.Target
	access      fleet.Access
	session     *cluster.Session // Target's, nil when unreachable
	unreachable string
	// denied says that the cluster does not let us in, which waiting does not mend; unreachable says it too.
	denied *diag.Finding
	// unread says why the record could not be read.
	unread string
	// later: its wave comes after --until-wave, so that nobody asks it for anything.
	later  bool
	handle release.RecordVersion
	// relation is what the run is to the record; signed is the record as this run wrote it.
	relation lineage.Relation
	// damaged: the record cannot be read, and is made again on purpose.
	damaged  bool
	signed   *release.Record
	findings diag.Findings
	mu       sync.Mutex
	early    early
	// schemas are what its objects are checked against.
	schemas *validation.Schemas
}

// targetOf is a cluster that nobody has asked anything.
func targetOf(c fleet.Cluster) *target {
	return &target{Target: desired.Target{Cluster: c}}
}

// anew is the same cluster, asked in the same way, without what was found out of a bundle there.
func (t *target) anew() *target {
	out := &target{Target: desired.Target{Cluster: t.Cluster, Facts: t.Facts, Store: t.Store}, access: t.access}
	out.ask(t.session)
	return out
}

// ask makes the target one that is asked by a session.
func (t *target) ask(s *cluster.Session) {
	if t.session = s; s != nil {
		t.Session = s
	}
}

// inventory is what the record says is there.
func (t *target) inventory() []plan.InventoryEntry {
	if t.Record == nil {
		return nil
	}
	return t.Record.Inventory
}

func (t *target) find(fs ...diag.Finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.findings = append(t.findings, diag.Findings(fs).OnCluster(t.Cluster.Name)...)
}

// Open opens the documents of a request.
func (e *Engine) Open(ctx context.Context, req Request, needBundle bool) (*input.Documents, error) {
	return req.documents().Open(ctx, input.Want{FleetOnly: !needBundle, Promoted: req.Promoted, Retire: req.Retire != "", Watchdog: e.Watchdog, Elsewhere: e.Elsewhere})
}

// load reads the documents and selects the clusters. needBundle is false for verbs that only need the fleet.
func (e *Engine) load(ctx context.Context, req Request, needBundle bool) (*run, error) {
	in, err := e.Open(ctx, req, needBundle)
	if err != nil {
		return nil, err
	}
	r := &run{Engine: e, Redactor: e.Redactor, req: req, input: in, program: in.Program, fleet: in.Fleet()}
	if r.Redactor == nil {
		r.Redactor = redact.New()
	}
	r.reader = values.New(values.Options{Fleet: in.Fleet(), Open: e.Stores, Redactor: r.Redactor})
	e.memo.Forgive()
	if e.Records != nil {
		r.open = e.Records(r.fleet, r.reader.Text)
	}
	r.Redactor.AddSent(req.Access.Override.Token)
	if err := r.clusters().Err(); err != nil {
		return nil, err
	}
	r.Redactor.Show("", fleet.NamesOf(r.all)...) // of clusters they are never masked
	r.sources = &source.Resolver{Fetchers: e.Signatures.Guard(in.Fleet(), e.Fetchers), Digest: e.digest, Pins: in.Lock.Sources, Locked: req.Locked}
	selected, findings := fleet.Select(r.all, req.Clusters)
	findings = append(findings, fleet.Acceptable(req.AcceptClusters, r.all)...)
	if err := findings.Err(); err != nil {
		return nil, err
	}
	for _, c := range selected {
		r.targets = append(r.targets, targetOf(c))
	}
	r.stats.Clusters = len(r.targets)
	r.leaveLater()
	return r, nil
}

// clusters finds out which clusters there are: the fleet's, the one that is retired from it, or without a fleet the implicit
// one.
func (r *run) clusters() diag.Findings {
	switch r.all = fleet.Clusters(r.fleet); {
	case r.req.Retire != "":
		return r.retired()
	case len(r.all) == 0:
		r.all = []fleet.Cluster{fleet.Implicit(r.req.Access.Context)}
	default:
		if flag := r.req.Access.OnlyImplicit(); flag != "" {
			return fleet.NotImplicit(flag)
		}
	}
	return nil
}

// resolve finds out how every selected cluster is reached. What does not resolve is an error before anything happens
// anywhere; there is no fall-back.
func (r *run) resolve() error {
	var findings diag.Findings
	for _, t := range r.targets {
		if t.later {
			continue
		}
		access, fs := r.Resolve(t.Cluster, r.req.Access)
		if fs = fs.OnCluster(t.Cluster.Name); r.req.Operation.Ends() {
			fs = retirement.Unguessed(fs)
		}
		if no := fs.Errors(); len(no) > 0 && (r.aloof || len(fs) == 1 && no[0].Code == fleet.CodeNoCredentials && !t.Cluster.Implicit) {
			t.denied, t.unreachable = &no[0], no[0].What
			continue
		}
		findings = append(findings, fs...)
		t.access, t.findings = access, append(t.findings, fs...)
	}
	return findings.Err()
}

// leaveLater marks the clusters of waves that are not to be done in this run.
func (r *run) leaveLater() {
	if r.req.UntilWave <= 0 {
		return
	}
	sch, _ := r.schedule() // what is wrong with it is said when the plan is made
	for _, t := range r.targets {
		t.later = slices.ContainsFunc(sch.Members, func(m rollout.Member) bool { return m.Cluster == t.Cluster.Name && m.Wave > r.req.UntilWave })
		if t.later {
			t.Facts = r.offlineFacts(t.Cluster)
		}
	}
}

// connect reaches all selected clusters at once and reads the facts; queries says whether runtime values are read too.
func (r *run) connect(ctx context.Context, queries bool) error {
	if err := r.resolve(); err != nil {
		return err
	}
	start := r.now()
	each(len(r.targets), 0, func(i int) { r.connectOne(ctx, r.targets[i], queries) })
	r.stats.ConnectMS = r.now().Sub(start).Milliseconds()
	findings := fleet.NoneLetsIn(len(r.targets), func(i int) (*diag.Finding, bool) { return r.targets[i].denied, !r.targets[i].later })
	for _, t := range r.targets {
		findings = append(findings, t.findings...)
		if t.unreachable == "" && !t.later {
			r.stats.Connected++
		}
	}
	return r.distinct(findings).Err()
}

// distinct adds to what was found which clusters of those that answered are one.
func (r *run) distinct(findings diag.Findings) diag.Findings {
	return fleet.Distinct(findings, len(r.targets), func(i int) (name, uid string) {
		return r.targets[i].Cluster.Name, map[bool]string{true: r.targets[i].Facts.UID}[r.targets[i].session != nil]
	})
}

func (r *run) connectOne(ctx context.Context, t *target, queries bool) {
	if why := r.req.absent[t.Cluster.Name]; why != "" {
		t.Facts, t.unreachable = r.offlineFacts(t.Cluster), why
		return
	}
	if t.later || t.denied != nil {
		return
	}
	connect := cluster.Connect
	if r.Sessions != nil {
		connect = r.Sessions
	}
	session, err := connect(ctx, cluster.Config{Config: kubeapi.Config{Name: t.Cluster.Name, Access: t.access, Kubeconfigs: &r.kubeconfigs, Parallel: r.req.Parallel,
		UserAgent: "hawser/" + r.Version, RequestTimeout: r.RequestTimeout, Redact: r.redact, Tell: r.Redactor.AddSent}, ConnectTimeout: connectTimeout,
		Ahead: func(ctx context.Context, s *cluster.Session) { r.readAhead(ctx, t, s) }})
	if t.Facts = r.offlineFacts(t.Cluster); r.fleet == nil {
		t.Facts.Chosen = t.access.Chosen(r.req.Access.Context != "")
	}
	if err != nil {
		if t.unreachable, t.denied = kubeapi.Away(err, t.Cluster.Implicit, r.redact); t.unreachable == "" {
			t.find(diag.From(err, "access")...)
			return
		}
		r.emit(fleetplan.Event{Type: fleetplan.EventConnected, Cluster: t.Cluster.Name, Status: "unreachable", Message: t.unreachable})
		return
	}
	t.ask(session)
	f := session.Facts()
	t.Facts.Version, t.Facts.UID, t.Facts.WeakUID, t.Facts.Server, t.Facts.ServerID, t.Facts.APIs = f.Version, f.UID, f.WeakUID, f.Server, f.ServerID, f.APIs
	if t.Store == nil {
		t.Store = r.open(session, t.Cluster.Name)
	}
	r.recognize(t)
	if queries && r.fleet != nil {
		r.query(ctx, t)
	}
	if !r.req.Writer.Nobody() {
		t.ask(session.As(r.req.Writer))
	}
	r.emit(fleetplan.Event{Type: fleetplan.EventConnected, Cluster: t.Cluster.Name, Status: "connected", Message: t.Facts.Server})
}

// offlineFacts are what is known of a cluster without asking it.
func (r *run) offlineFacts(c fleet.Cluster) fleet.Facts {
	return c.Facts(r.values(nil, c))
}

// values are a cluster's runtime values. Secret ones that the documents use are hidden from then on.
func (r *run) values(queried map[string]fleet.Value, c fleet.Cluster) map[string]fleet.Value {
	env := map[string]string{}
	if r.req.RuntimeFromEnv {
		env = r.req.Env
	}
	out := fleet.RuntimeValues(env, queried, c)
	for name, v := range out {
		if v.Secret && r.Redactor != nil && (v.Layer != fleet.LayerEnv || r.uses(name)) {
			r.Redactor.AddFor(redact.Nobody, v.Value) // and for the instances it goes to: bound
		}
	}
	return out
}

// query reads the fleet's runtime values from the cluster.
func (r *run) query(ctx context.Context, t *target) {
	queried, findings := fleet.Queried(r.fleet.Values, func(q fleet.Query) (map[string]any, error) {
		return t.session.Get(ctx, q.APIVersion, q.Kind, q.Namespace, q.Name)
	}, kubeapi.IsAbsent, r.redact, r.program.Query)
	t.find(findings...)
	t.Facts.Values = r.values(queried, t.Cluster)
}

// early is a record that was read while the cluster's facts were.
type early struct {
	owner   string // "" for none
	record  *release.Record
	handle  release.RecordVersion
	damaged bool
}

// mostAhead is for how many clusters bundles are evaluated for their names alone.
const mostAhead = 3

// readAhead reads the record of the bundle that the files say without knowing the cluster. Where that is another one, or
// cannot be read, readRecord reads.
func (r *run) readAhead(ctx context.Context, t *target, s *cluster.Session) {
	name := r.req.Bundle
	if !r.records || r.fleet.Outside() { // there they are found by the UID, which is not known yet
		return
	}
	if name == "" && len(r.targets) <= mostAhead {
		if specs, _ := r.input.Evaluate(r.offlineFacts(t.Cluster)); len(specs) == 1 { // findings come with the facts
			name = specs[0].Name
		}
	}
	if name == "" {
		return
	}
	t.Store = r.open(s, t.Cluster.Name)
	owner := r.owner(name)
	if record, handle, damaged, err := r.current(ctx, t, owner); err == nil {
		t.early = early{owner, record, handle, damaged}
	}
}

// readRecord reads the bundle's current record and refuses one of another cluster.
func (r *run) readRecord(ctx context.Context, t *target, owner string) {
	record, handle, damaged, err := t.early.record, t.early.handle, t.early.damaged, error(nil)
	if t.early.owner != owner {
		record, handle, damaged, err = r.current(ctx, t, owner)
	}
	t.early = early{} // what is read later is read anew
	if err != nil {
		t.unread = r.redact(err.Error())
		if !r.reading {
			t.find(diag.From(err, "record")...)
		}
		return
	}
	t.Record, t.handle, t.damaged = record, handle, damaged
	t.find(r.refuses(t, t.Record)...)
}

// refuses says why a record is not that of the cluster in which it lies.
func (r *run) refuses(t *target, rec *release.Record) diag.Findings {
	if r.accepts(t.Cluster.Name) {
		return nil
	}
	return rec.Contradicts(t.Cluster.Name, t.Facts.Identity(), r.fleet)
}

func (r *run) fleetName() string { return r.fleet.Called() }

// schedule is the order in which the selected clusters change.
func (r *run) schedule() (rollout.Schedule, diag.Findings) {
	var clusters []fleet.Cluster
	unreachable := map[string]bool{}
	for _, t := range r.targets {
		clusters = append(clusters, t.Cluster)
		unreachable[t.Cluster.Name] = t.unreachable != ""
	}
	sch, fs := rollout.NewSchedule(r.fleet.Order(), clusters, unreachable)
	if r.req.Operation.Ends() {
		sch = rollout.Reversed(sch)
	}
	return rollout.Until(sch, r.req.UntilWave, fs)
}

func (r *run) close() {
	for _, t := range r.targets {
		if t.session != nil {
			t.session.Close()
		}
	}
}

func cores() int { return runtime.GOMAXPROCS(0) }
