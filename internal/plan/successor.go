package plan

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/successor"
)

// replaceable reports whether an object of the kind is nothing but what it holds, or runs once: what else goes (what keeps
// running, data, everybody's objects) is never shown as part of something that is made.
func replaceable(r object.Ref) bool {
	switch {
	case holds(r), r.Group == "" && (r.Kind == "PersistentVolumeClaim" || r.Kind == "PersistentVolume"):
		return false
	case r.Finishes():
		return true
	}
	return !r.IsWorkload()
}

// pair marks what is made under a new name because it holds something else, and what goes for it: of the same kind,
// namespace and instance, with the same name before the version or digest. Where more than one is made or goes, nobody
// knows which belongs to which, and none is marked. Both changes stay, and are counted.
func pair(changes []Change) {
	type candidates struct{ made, gone []int }
	by := map[string]*candidates{}
	for i, c := range changes {
		made, gone := c.Action == Create && c.Code == CodeNew, c.Action == Delete
		if !made && !gone || c.Hook != nil || !replaceable(c.Ref) {
			continue
		}
		for _, e := range successor.Endings(c.Ref.Name) {
			key := strings.Join([]string{c.Instance, c.Ref.Group, c.Ref.Kind, c.Ref.Namespace, e}, "\n")
			if by[key] == nil {
				by[key] = &candidates{}
			}
			if made {
				by[key].made = append(by[key].made, i)
			} else {
				by[key].gone = append(by[key].gone, i)
			}
		}
	}
	const several = -1
	partner := map[int]int{}
	meet := func(i, j int) {
		if other, known := partner[i]; known && other != j {
			j = several
		}
		partner[i] = j
	}
	for _, c := range by {
		switch {
		case len(c.made) == 0 || len(c.gone) == 0:
		case len(c.made) == 1 && len(c.gone) == 1:
			meet(c.made[0], c.gone[0])
			meet(c.gone[0], c.made[0])
		default:
			for _, i := range slices.Concat(c.made, c.gone) {
				meet(i, several)
			}
		}
	}
	for i, j := range partner {
		if j == several || partner[j] != i || changes[i].Action != Create {
			continue
		}
		made, gone := &changes[i], &changes[j]
		made.Replaces, gone.ReplacedBy = ptr(gone.Ref), ptr(made.Ref)
	}
}

func ptr(r object.Ref) *object.Ref { return &r }

// Pairs reports whether the plan replaces objects by such of other names: their fields want telling.
func (p *Plan) Pairs() bool {
	for _, c := range p.Changes {
		if c.Replaces != nil {
			return true
		}
	}
	return false
}

// TellPairs gives what is made under a new name the fields in which it differs from what it replaces, as that was declared
// (base, by object). One whose former content is not known stays as it is.
func (p *Plan) TellPairs(base, bodies map[object.Ref]object.Object, redact func(string) string) {
	name := []string{"metadata.name"}
	for i, c := range p.Changes {
		if c.Replaces == nil {
			continue
		}
		before, known := base[*c.Replaces]
		after, here := bodies[c.Ref]
		if !known || !here {
			continue
		}
		after.Sensitive = append(after.Sensitive[:len(after.Sensitive):len(after.Sensitive)], before.Sensitive...)
		p.Changes[i].Fields = FieldChanges(after, object.WithoutPaths(before.Body, name), object.WithoutPaths(after.Body, name), redact, object.Setters{})
	}
}
