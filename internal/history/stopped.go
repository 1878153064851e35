package history

import (
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

// CodeStaysStopped is the code of the finding about a release that failed and is not tried again by itself.
const CodeStaysStopped = "stays-stopped"

// StaysStopped finds on clusters, by their records, that what has this source digest failed there, or was gone back from by itself. A person
// who applies it again has decided to try again; a driver that is none, unattended, finds it stopped until what it is made of changes.
// What was cut short has not failed.
func StaysStopped(unattended bool, records []*release.Record, digest string) diag.Findings {
	var out diag.Findings
	for _, r := range records {
		if r == nil || !unattended {
			continue
		}
		f := diag.Errorf(CodeStaysStopped, "what is to be released has failed and is not tried again by itself")
		f.Cluster, f.Fix = r.Cluster, "change what it is made of, or apply it by hand, which tries again"
		switch {
		case r.Phase == release.Failed && len(r.Unfinished) > 0 && r.Has() == digest:
			f.Why = "release " + r.Called().String() + " failed"
		case r.Undoes != "" && r.Undone == digest:
			f.Why = "rollout " + r.Undoes + " failed, and release " + r.Called().String() + " went back from it"
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// Undo is Back, but that a run which goes back from a rollout by itself (undoes, "" for none) finds Unlooked.
func Undo(clusters []Cluster, bundle, to, undoes string) (*Rollback, error) {
	if err := Unlooked(clusters).Err(); undoes != "" && err != nil {
		return nil, err
	}
	return Back(clusters, bundle, to)
}

// Unlooked finds those clusters of a run that did not answer, or whose records nobody could read: what it goes back from by itself is not known
// there, and the others go without them.
func Unlooked(clusters []Cluster) diag.Findings {
	beside := map[string]bool{}
	for _, c := range clusters {
		beside[c.Name] = c.Beside
	}
	var out diag.Findings
	for _, u := range Of(clusters).Unknown {
		if beside[u.Cluster] {
			continue
		}
		f := diag.Errorf(CodeUnknown, "nobody knows what it has")
		f.Cluster, f.Why, f.Fix = u.Cluster, u.Why, "hawser history shows it when the cluster answers, and hawser rollback takes it back"
		out = append(out, f)
	}
	return out
}
