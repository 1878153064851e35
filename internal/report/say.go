package report

import (
	"fmt"
	"io"

	"hawser.dev/hawser/internal/release"
)

// Asked prints what is to be said about a release, before it is.
func Asked(w io.Writer, s *release.Saying, st Style) error {
	o := newOut(w, st)
	o.wrapped(0, clean(s.About()), bold)
	o.wrapped(2, clean(s.Message), dim)
	o.wrapped(0, clean(s.For()), "")
	return o.Flush()
}

// Said prints what was said about a release, done being the word for it, and where that does not stand; tip is what to do next where it stands anywhere.
func Said(w io.Writer, s *release.Saying, done, tip string, st Style) error {
	o, why := newOut(w, st), newReasons()
	for _, c := range s.Clusters {
		why.add(c.Cluster, "does not answer", c.Unreachable)
		why.add(c.Cluster, "not "+done, c.Problem)
	}
	why.write(o, "")
	if s.Missed() == len(s.Clusters) {
		o.wrapped(0, fmt.Sprintf("Release %d of %s is %s on no cluster.", s.Release, clean(s.Bundle), done), "")
		return o.Flush()
	}
	if s.Still != nil {
		tip = fmt.Sprintf("Release %d (%s) stays %s", s.Still.Release, s.Still.Rollout, s.Still)
	}
	o.wrapped(0, fmt.Sprintf("Release %d of %s is %s on %s. %s", s.Release, clean(s.Bundle), done, count(len(s.Clusters)-s.Missed(), "cluster"), clean(s.Then(tip))), "")
	return o.Flush()
}
