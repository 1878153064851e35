package report

import (
	"io"

	"hawser.dev/hawser/internal/release"
)

// Asked prints what is to be said about a release, before it is.
func Asked(w io.Writer, s *release.Saying, st Style) error {
	o, s := laid(w, s, st)
	o.wrapped(0, clean(s.About()), bold)
	if s.Message != "" {
		o.wrapped(2, clean(s.Message), dim)
	}
	o.wrapped(0, clean(s.For()), "")
	o.wrapped(0, clean(s.Shown()), dim)
	if s.Verb == release.Approve {
		o.wrapped(0, "Values behind references and queries, if it has any, are read again when it goes on: they are not part of what is approved.", "")
	}
	return o.Flush()
}

// Said prints what was said about a release, done being the word for it, and where that does not stand; tip is what to do next where it stands anywhere.
func Said(w io.Writer, s *release.Saying, done, tip string, st Style) error {
	w, s = masked(w, s)
	o, why := newOut(w, st), newReasons()
	for _, c := range s.Clusters {
		why.add(c.Cluster, "does not answer", c.Unreachable)
		why.add(c.Cluster, "not "+done, c.Problem)
	}
	why.write(o, "")
	o.wrapped(0, clean(s.Summary(done, tip)), "")
	return o.Flush()
}
