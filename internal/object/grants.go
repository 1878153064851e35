package object

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/neversecret"
)

// Grants reports whether objects of the kind give rights, or decide about what others write.
func (r Ref) Grants() bool { return neversecret.Grants(r.Group) }

// Grants reports whether the object does so, by its kind or its labels.
func (o Object) Grants() bool {
	meta, _ := o.Body["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	ref := o.Ref()
	return ref.Grants() || neversecret.Admits(ref.Group, ref.Kind, labels)
}

func stepsOf(trail []trailStep) []string {
	out := make([]string, len(trail))
	for i, st := range trail {
		if st.position == "" {
			out[i] = st.name
		}
	}
	return out
}

// Claimed is an object that was kept, with what it says itself is secret in it: of its own texts and numbers, and nothing at a place
// that is never secret, but images. Whoever writes where it is kept hides nothing else by that.
func (o Object) Claimed() Object {
	if len(o.Sensitive) == 0 {
		return o
	}
	ref, p, used := o.Ref(), newPathSet(o.Sensitive), map[int]bool{}
	use := func(trail []trailStep, path int) {
		was, seen := used[path]
		used[path] = (was || !seen) && (!neversecret.Place(ref.Group, ref.Kind, stepsOf(trail)) || neversecret.Kept(ref.Group, ref.Kind, stepsOf(trail)))
	}
	p.scalars(o.Body, nil, p.start(), func(trail []trailStep, _ string, path int) { use(trail, path) }, use)
	o.Sensitive = nil
	for _, i := range slices.Sorted(maps.Keys(used)) {
		if used[i] {
			o.Sensitive = append(o.Sensitive, p.paths[i])
		}
	}
	return o
}

// Open are the texts of an object at places that are never secret, and those of what it runs; hidden are the paths at which it says that what
// it runs is secret: commands and images. What it says is secret names nothing in them.
func (o Object) Open() (never, runs, hidden []string) {
	ref, p, said, marked := o.Ref(), newPathSet(o.Sensitive), map[string]bool{}, map[string]bool{}
	p.scalars(o.Body, nil, p.start(), func(_ []trailStep, text string, _ int) { marked[text] = true }, func(trail []trailStep, _ int) { marked[trail[len(trail)-1].name] = true })
	secret := func(text string) bool { return marked[text] }
	place := func(trail []trailStep) string { return selector(trail, secret, secret) }
	p.scalars(o.Body, nil, p.start(), func(trail []trailStep, _ string, _ int) {
		if path := stepsOf(trail); neversecret.Runs(ref.Group, ref.Kind, path) || neversecret.Kept(ref.Group, ref.Kind, path) {
			hidden, said[place(trail)] = append(hidden, place(trail)), true
		}
	}, nil)
	scalars(o.Body, nil, func(trail []trailStep, text string) {
		path := stepsOf(trail)
		switch {
		case said[place(trail)]:
		case neversecret.Place(ref.Group, ref.Kind, path):
			never = append(never, text)
		case neversecret.Runs(ref.Group, ref.Kind, path):
			runs = append(runs, text)
		}
	}, nil)
	return append(never, ref.Name), runs, hidden
}
