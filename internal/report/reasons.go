package report

import (
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// reasons say of clusters why nothing else is said of them: each reason once, with the clusters it is the same on.
type reasons struct {
	tally
	// whole are the reasons of the first cluster that has each, with what is another one elsewhere.
	whole map[string]string
}

func newReasons() *reasons { return &reasons{*newTally(), map[string]string{}} }

// add takes a cluster's reason; state is the word for it. An empty reason is none.
func (r *reasons) add(cluster, state, why string) {
	if why == "" {
		return
	}
	why = state + ": " + strings.TrimPrefix(why, "cluster "+cluster+": ")
	key := diag.Neutral(why, cluster)
	if r.whole[key] == "" {
		r.whole[key] = why
	}
	r.tally.add(key, cluster)
}

// write prints the reasons, each followed by the tail.
func (r *reasons) write(o *out, tail string) {
	for _, why := range r.keys {
		names := r.at[why]
		first := r.whole[why]
		if why = diag.Likewise(why, first, len(names)-1); len(names) == 1 {
			why = first
		}
		list := clusterList(names, o.st)
		head, rest := o.st.paint(red, "?")+"  "+list, clean(why)+tail
		if !o.st.narrow() && width(head)+2+width(rest) <= o.st.width()+20 {
			o.line(head, "  ", rest)
			continue
		}
		if o.st.narrow() && width(head) > o.st.width() {
			o.wrapped(0, "?  "+list, red)
		} else {
			o.line(head)
		}
		o.wrapped(3, rest, "")
	}
}
