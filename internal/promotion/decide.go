package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

// Declared is what files say of a fleet: its clusters in order, and the bundles for each of them.
type Declared struct {
	Clusters []fleet.Cluster
	Specs    map[string][]v1alpha1.BundleSpec
}

// placed are the instances of a bundle on a cluster, with the values that they have there.
func (d Declared) placed(bundle, cluster string) []v1alpha1.Instance {
	at := slices.IndexFunc(d.Clusters, func(c fleet.Cluster) bool { return c.Name == cluster })
	if at < 0 {
		return nil
	}
	var out []v1alpha1.Instance
	for _, spec := range d.Specs[cluster] {
		if bundle != "" && spec.Name != bundle {
			continue
		}
		all, _ := place.Select(spec, d.Clusters[at], d.Clusters[at].Facts(nil)) // a plan says what is wrong with it
		for _, p := range all {
			if p.Why == "" {
				out = append(out, p.Instance)
			}
		}
	}
	return out
}

// Input is what a promotion is decided by.
type Input struct {
	Bundle  string
	Release *history.Release
	// From and To are the sides; Groups are those of To's names that are groups.
	From, To Side
	Groups   []string
	// Source is what the files say of From's fleet, Target what they say of To's.
	Source, Target Declared
	// Lock is the hawser.lock of the target's files.
	Lock lockfile.File
	// SourcesOnly leaves values that name images as they are.
	SourcesOnly bool
}

// running is one instance as the release has it.
type running struct {
	history.Instance
	cluster string
}

func (r running) pin() lockfile.Pin {
	return lockfile.Pin{Version: r.Source.Version, Digest: r.Digest}
}

// running are the instances of the release, by name; what clusters do not agree on is an Error.
func (in Input) running() (map[string]running, diag.Findings) {
	out := map[string]running{}
	var findings diag.Findings
	for _, c := range in.Release.Clusters {
		for _, i := range c.Instances {
			was, twice := out[i.Instance]
			if twice && (was.Source != i.Source || was.Digest != i.Digest) {
				f := diag.Errorf(CodeRelease, "%s runs two of %s", in.From, i.Instance)
				f.Instance, f.Why = i.Instance, fmt.Sprintf("%s on %s, and %s on %s", told(was.Instance), was.cluster, told(i), c.Cluster)
				f.Fix = "name the clusters to promote from: --from " + was.cluster
				findings = append(findings, f)
			}
			if !twice {
				out[i.Instance] = running{i, c.Cluster}
			}
		}
	}
	return out, findings
}

// told is an instance's source in words.
func told(i history.Instance) string {
	return strings.TrimSpace(i.Source.String() + " " + i.Digest[:min(len(i.Digest), len("sha256:")+12)])
}

// AsRun are the promotions of a hawser.lock with which the files are for From what the release was made of, and what the files say
// otherwise where no pin can say it.
func AsRun(in Input, lock lockfile.File) (lockfile.Promotions, diag.Findings) {
	out, findings := lock.Promoted.Clone(), diag.Findings(nil)
	for _, c := range in.Release.Clusters {
		for _, i := range in.Source.placed(in.Bundle, c.Cluster) {
			at := slices.IndexFunc(c.Instances, func(x history.Instance) bool { return x.Instance == i.Name })
			s, ok := source.Of(i)
			if !c.In || at < 0 || !ok || s.Local() {
				continue
			}
			run := running{c.Instances[at], c.Cluster}
			if run.Suspended {
				continue
			}
			if !s.Is(run.Source) || source.Exact(s.Want) && !source.Allows(s.Want, run.pin().Version) || s.Ref.Digest != "" && s.Ref.Digest != run.Digest {
				findings = append(findings, moved(in.Release, i.Name, c.Cluster, "the files say "+s.Title(cmp.Or(s.Want, s.Ref.Digest))+", and it has "+told(run.Instance)))
			}
			out.Set(in.From.Fleet, in.Bundle, lockfile.OnCluster(c.Cluster), s.Key(), run.pin())
		}
	}
	return out, findings
}

func moved(r *history.Release, instance, cluster, why string) diag.Finding {
	f := diag.Errorf(CodeMoved, "the files are not what release %s was made of", r.Name())
	f.Instance, f.Cluster, f.Why = instance, cluster, why
	f.Fix = "apply them to where is promoted from first, or check out the commit of the release"
	if r.Commit != "" {
		f.Fix += " (" + r.Commit[:min(12, len(r.Commit))] + ")"
	}
	return f
}

// decision is a promotion on its way.
type decision struct {
	Input
	out      *Promotion
	promoted lockfile.Promotions
	edits    []Edit
	runs     map[string]running
	// keys are those of the sources by the place where they are pinned.
	keys map[string]map[string]lockfile.Pin
}

// Decide is what a promotion writes: the promotions of the target's hawser.lock, and the edits of its files. Nothing may be written
// where there is an Error among the promotion's findings.
func Decide(in Input) (*Promotion, lockfile.Promotions, []Edit) {
	d := &decision{Input: in, promoted: in.Lock.Promoted.Clone(), keys: map[string]map[string]lockfile.Pin{},
		out: &Promotion{V: diag.DocumentVersion, Bundle: in.Bundle, Release: release.Name{Release: in.Release.Release, Rollout: in.Release.Rollout}, Commit: in.Release.Commit, From: in.From, To: in.To, Instances: []Instance{}, Files: []File{}}}
	for _, c := range in.Release.Clusters {
		if c.In && c.Finished.After(d.out.Finished) {
			d.out.Finished = c.Finished
		}
	}
	d.out.Findings = NotThere(in.Release)
	var fs diag.Findings
	d.runs, fs = in.running()
	if d.out.Findings = append(d.out.Findings, fs...); !fs.HasErrors() {
		for _, cluster := range in.To.Clusters {
			for _, i := range in.Target.placed(in.Bundle, cluster) {
				d.instance(cluster, i)
			}
		}
		d.alone()
		d.pin()
	}
	d.out.Findings = d.out.Findings.Alike().Sorted()
	return d.out, d.promoted, d.edits
}

func (d *decision) no(i v1alpha1.Instance, cluster string, at diag.Pos, what, why, fix string) {
	f := diag.Errorf(CodeWritten, "%s", what)
	if f.Pos = at; !at.IsValid() {
		f.Pos = source.Position(i)
	}
	f.Instance, f.Cluster, f.Why, f.Fix = i.Name, cluster, why, fix
	d.out.Findings = append(d.out.Findings, f)
}

// instance decides about one instance on one cluster.
func (d *decision) instance(cluster string, i v1alpha1.Instance) {
	run, runs := d.runs[i.Name]
	s, ok := source.Of(i)
	if !runs || !ok || run.Suspended {
		f := diag.Finding{Severity: diag.Info, Code: "not-promoted", Instance: i.Name, Cluster: cluster, What: i.Name + " stays as the files have it", Why: "release " + d.Release.Name() + " does not have it"}
		if run.Suspended {
			f.Severity, f.Why = diag.Warning, "it was suspended when release "+d.Release.Name()+" was delivered"
		}
		d.key(cluster, s, s.Promoted)
		d.out.Findings = append(d.out.Findings, f)
		return
	}
	row := Instance{Instance: i.Name, Clusters: []string{cluster}, Source: run.Source, To: run.pin(), How: Pinned, Images: run.Images}
	if row.From, _ = s.PinIn(d.Lock.Sources); s.Ref.Digest != "" {
		row.From = lockfile.Pin{Version: s.Want, Digest: s.Ref.Digest}
	}
	row.From.Version = cmp.Or(row.From.Version, s.Want)
	switch {
	case s.Local():
		if !d.beside(i, run) {
			d.no(i, cluster, diag.Pos{}, i.Name+" is made from files of another directory, which nothing can pin", d.From.String()+" has "+told(run.Instance), "let both name one directory, or publish it to a registry")
			return
		}
		row.How, row.From = Local, row.To
	case !s.Is(run.Source):
		d.no(i, cluster, diag.Pos{}, i.Name+" is another source for "+cluster, fmt.Sprintf("the files say %s, and %s has %s", s.Title(s.Want), d.From, run.Source), "promote what is one source; write the other one yourself")
		return
	case run.Digest == "":
		d.no(i, cluster, diag.Pos{}, "nobody knows the digest of "+i.Name, "the record of release "+d.Release.Name()+" has none: an earlier Hawser wrote it", "apply it again, and promote that release")
		return
	default:
		d.versions(cluster, i, s, run, &row)
	}
	if !d.SourcesOnly && s.Kind != "kustomize" && s.Kind != "manifests" {
		d.images(cluster, i, run, &row)
	}
	d.add(row)
}

// beside reports whether a local source is in the directory that the release's is in.
func (d *decision) beside(i v1alpha1.Instance, run running) bool {
	want, _ := source.Of(i)
	for _, other := range d.Source.placed(d.Bundle, run.cluster) {
		if s, ok := source.Of(other); ok && other.Name == i.Name {
			return s.Local() && s == want
		}
	}
	return false
}

// versions pins a source, and edits what the files write of its version and digest.
func (d *decision) versions(cluster string, i v1alpha1.Instance, s source.Source, run running, row *Instance) {
	version, digest := source.Literals(i)
	switch {
	case source.Exact(s.Want) && !source.Allows(s.Want, run.Source.Version):
		row.How = Edited
		d.edits = append(d.edits, Edit{At: version, Field: "version", Was: s.Want, Now: run.Source.Version})
		s.Want = run.Source.Version
	case !source.Allows(s.Want, run.Source.Version):
		d.no(i, cluster, version, fmt.Sprintf("the files allow %s of %s for %s, and %s has %s", s.Want, i.Name, cluster, d.From, run.Source.Version), "a range is what the files allow, and is not widened by a promotion", "write a range that has "+run.Source.Version+", or that version")
		return
	}
	if s.Ref.Digest == "" {
		d.key(cluster, s, run.pin())
		return
	}
	if s.Ref.Digest != run.Digest {
		row.How = Edited
		d.edits = append(d.edits, Edit{At: digest, Field: "digest", Was: s.Ref.Digest, Now: run.Digest})
	}
}

// key notes what a source is to be pinned to on a cluster; a zero pin keeps what there is for all.
func (d *decision) key(cluster string, s source.Source, pin lockfile.Pin) {
	at := d.place(cluster)
	if d.keys[at] == nil {
		d.keys[at] = map[string]lockfile.Pin{}
	}
	if was := d.keys[at][s.Key()]; was.Digest != "" && pin.Digest != "" && was != pin {
		f := diag.Errorf(CodeWritten, "two of %s run on %s, and %s pins but one", s.Key(), d.From, lockfile.Name)
		f.Cluster, f.Fix = cluster, "promote when they are one again, or write their versions apart"
		d.out.Findings = append(d.out.Findings, f)
	}
	if s.Local() || pin.Digest == "" {
		return
	}
	d.keys[at][s.Key()] = pin
}

// place is where pins of a cluster are kept: its group's where that is promoted to as a whole.
func (d *decision) place(cluster string) string {
	i := slices.IndexFunc(d.Target.Clusters, func(c fleet.Cluster) bool { return c.Name == cluster })
	group := d.Target.Clusters[i].Group
	if group != "" && (len(d.To.Names) == 0 || slices.Contains(d.Groups, group)) {
		return lockfile.InGroup(group)
	}
	return lockfile.OnCluster(cluster)
}

// pin makes the promotions what they are to be.
func (d *decision) pin() {
	for _, cluster := range d.To.Clusters {
		at, own := d.place(cluster), lockfile.OnCluster(cluster)
		if at != own { // what the cluster alone had goes where the group has it now
			var stay []string
			for key := range d.promoted[d.To.Fleet][d.Bundle][own] {
				if _, promoted := d.keys[at][key]; !promoted {
					stay = append(stay, key)
				}
			}
			d.promoted.Keep(d.To.Fleet, d.Bundle, own, stay...)
		}
	}
	for at, pins := range d.keys {
		d.promoted.Keep(d.To.Fleet, d.Bundle, at)
		for key, pin := range pins {
			d.promoted.Set(d.To.Fleet, d.Bundle, at, key, pin)
		}
	}
}

// add adds a row, clusters with equal ones together.
func (d *decision) add(row Instance) {
	for k, r := range d.out.Instances {
		if r.Instance == row.Instance && r.From == row.From && r.To == row.To && r.How == row.How && slices.Equal(r.Values, row.Values) {
			d.out.Instances[k].Clusters = append(r.Clusters, row.Clusters...)
			return
		}
	}
	d.out.Instances = append(d.out.Instances, row)
}
