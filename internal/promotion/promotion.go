// Package promotion decides what files are to say so that some clusters of a fleet get what runs on others: which release may be
// promoted, which pins and which literals in the files that takes, and whether the files are still what that release was made of.
//
// A pure room: promotion must not know how records are read, nor how files are; it is given both, and gives back what they are to be.
package promotion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/linediff"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

// Codes of refusals.
const (
	// CodeRelease: the release may not be promoted.
	CodeRelease = "not-promotable"
	// CodeMoved: the files are not what the release was made of.
	CodeMoved = "files-moved"
	// CodeWritten: the files say it where no promotion can write it.
	CodeWritten = "not-promoted"
)

// Promotion is what a promotion writes, and what that means. Its JSON form is public and versioned.
type Promotion struct {
	V      int    `json:"v"` // diag.DocumentVersion
	Bundle string `json:"bundle"`
	// Release is the one that is promoted, of From, with its commit and when it had ended there.
	Release  release.Name `json:"release"`
	Commit   string       `json:"commit,omitempty"`
	Finished time.Time    `json:"finished,omitzero"`
	From     Side         `json:"from"`
	To       Side         `json:"to"`
	// Instances are those that are pinned to what the release has.
	Instances []Instance `json:"instances"`
	// Files are those that are to be written; none when they say it already.
	Files []File `json:"files"`
	// Written: they were.
	Written  bool          `json:"written"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// Side is one side of a promotion.
type Side struct {
	Fleet string `json:"fleet,omitempty"`
	// Names are groups and clusters as they were given; none are all of the fleet.
	Names    []string `json:"names,omitempty"`
	Clusters []string `json:"clusters"`
}

// String is the side for people: its names, else its fleet.
func (s Side) String() string {
	if len(s.Names) > 0 {
		return strings.Join(s.Names, ", ")
	}
	return "fleet " + s.Fleet
}

// How says how the files come to say what is promoted.
type How string

// The ways.
const (
	// Pinned: hawser.lock pins it for the clusters.
	Pinned How = "pin"
	// Edited: the version or the digest that the bundle writes for the clusters is another one, and hawser.lock pins it.
	Edited How = "edit"
	// Local: it is made from files beside the bundle, which are what the release was made of.
	Local How = "local"
)

// Instance is what becomes of one instance on clusters that write its source alike.
type Instance struct {
	Instance string           `json:"instance"`
	Clusters []string         `json:"clusters"`
	Source   source.Described `json:"source"`
	// From is what the files say for the clusters now, without a digest where nothing pins it; To what they are to say.
	From lockfile.Pin `json:"from"`
	To   lockfile.Pin `json:"to"`
	How  How          `json:"how"`
	// Images are what it runs where it comes from.
	Images []string `json:"images,omitempty"`
	// Values are those that name images, where the files are to say another one.
	Values []Value `json:"values,omitempty"`
}

// Changes reports whether the clusters are to have something else than the files say now.
func (i Instance) Changes() bool { return i.How != Local && i.From != i.To || len(i.Values) > 0 }

// Value is one value that names an image.
type Value struct {
	Path string   `json:"path"`
	From string   `json:"from"`
	To   string   `json:"to"`
	Pos  diag.Pos `json:"pos"`
}

// File is one file that is to be written.
type File struct {
	Path string `json:"path"`
	// Diff is a unified diff of it, without a head.
	Diff []string `json:"diff"`
	// Old and New are the whole texts.
	Old string `json:"-"`
	New string `json:"-"`
}

// NewFile is a file that is to have another text; context is how many lines around what changes are shown: what stands there may be
// anything.
func NewFile(path, old, text string, context int) File {
	f := File{Path: path, Diff: []string{}, Old: old, New: text}
	for _, h := range linediff.Hunks(strings.Split(old, "\n"), strings.Split(text, "\n"), context) {
		f.Diff = append(append(f.Diff, h.Head()), h.Lines...)
	}
	return f
}

// Choose is the release of the bundle that may be promoted from clusters: the one of that name (number or rollout), with "" the newest
// that came to any of them. soaks are how long a release soaks, by cluster. It is an error of refusals unless it succeeded, and has
// soaked, on every one of them that it came to.
func Choose(h *history.History, name string, side Side, soaks map[string]time.Duration, now time.Time) (*history.Release, error) {
	var findings diag.Findings
	no := func(cluster, why, fix string) {
		f := diag.Errorf(CodeRelease, "%s", "nothing can be promoted from "+side.String())
		f.Cluster, f.Why, f.Fix = cluster, why, fix
		findings = append(findings, f)
	}
	for _, u := range h.Unknown {
		no(u.Cluster, u.State()+": "+u.Why, "promote when it answers, or from the others alone: --from with their names")
	}
	if len(findings) > 0 || len(h.Bundles) == 0 {
		return nil, findings.Err()
	}
	const another = "mend it, or choose another release with --release; hawser history lists them"
	releases := h.Bundles[0].Releases
	at := slices.IndexFunc(releases, func(r history.Release) bool { return slices.ContainsFunc(r.Clusters, came) })
	if name != "" {
		r, err := h.Find(name)
		if err != nil {
			return nil, err
		}
		at = slices.IndexFunc(releases, func(x history.Release) bool { return x.Rollout == r.Rollout })
	}
	if at < 0 {
		no("", "no release came to it", "apply the bundle there first")
		return nil, findings.Err()
	}
	r := &releases[at]
	if r.Waits != nil && r.Waits.Paused != nil {
		no("", fmt.Sprintf("release %s is paused: %s", r.Name(), r.Waits), "hawser resume, or choose another release with --release")
	}
	in := 0
	for _, c := range r.Clusters {
		if c.Unknown != "" {
			no(c.Cluster, c.Unknown, another)
		}
		if !c.In {
			continue
		}
		in++
		soaked := c.Finished.Add(soaks[c.Cluster])
		switch {
		case c.Phase.Open():
			no(c.Cluster, fmt.Sprintf("release %s has not ended there (%s)", r.Name(), orWord(c.InProgress, string(c.Phase))), "promote when it has, or choose another release with --release")
		case c.Phase == release.Written:
			no(c.Cluster, fmt.Sprintf("nobody waited until release %s was ready there (--wait=false), or could look after its soak", r.Name()), "apply it again without --wait=false, or choose another release with --release")
		case c.Phase != release.Succeeded:
			no(c.Cluster, fmt.Sprintf("release %s ended as %s there", r.Name(), c.Phase), another)
		case !c.Soaked() && soaked.After(now):
			no(c.Cluster, fmt.Sprintf("release %s soaks there until %s", r.Name(), soaked.UTC().Format(time.RFC3339)), "promote then, or choose another release with --release")
		}
	}
	if in == 0 && len(findings) == 0 {
		no("", fmt.Sprintf("release %s did not come to it", r.Name()), "choose another release with --release; hawser history lists them")
	}
	return r, findings.Err()
}

func came(s history.Standing) bool { return s.In }

func orWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// NotThere tells of the clusters that the release did not come to, and which have something else.
func NotThere(r *history.Release) diag.Findings {
	var out diag.Findings
	for _, c := range r.Clusters {
		if c.In || c.Unchanged {
			continue
		}
		f := diag.Finding{Severity: diag.Info, Code: "skipped-release", Cluster: c.Cluster, What: "release " + r.Name() + " did not come here", Why: "nothing of the bundle is there"}
		if c.Rollout != "" {
			f.Why = "it stands at release " + (&release.Name{Release: c.Release, Rollout: c.Rollout}).String()
		}
		out = append(out, f)
	}
	return out
}
