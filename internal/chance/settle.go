package chance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Own is what is known of a bundle on a cluster before anything is made up for it.
type Own struct {
	// Owner is the bundle's owner id.
	Owner string
	// Kept is what is kept for the bundle, Made the digests of what was kept when its record was written.
	Kept map[string]Answers
	Made map[string]string
	// Delivered reports whether the record has an instance. What is kept of others is former: nothing live was made with it
	// as far as this bundle knows.
	Delivered func(instance string) bool
	// Declared are all instances of the bundle, Placed those that are placed on the cluster.
	Declared, Placed []string
}

// Beside is another bundle of the same files, or one that was removed from them.
type Beside struct {
	Owner               string
	Kept                map[string]Answers
	Delivered, Declares func(instance string) bool
	// Removed: the files do not hold the bundle any more. Whether this one is what it was renamed to, objects tell.
	Removed bool
}

// Origin is where an instance's answers were until now.
type Origin struct {
	Owner, Instance string
	// Doubt: other answers are kept under the instance's own name, of when the name was another's or was not delivered.
	// Only objects that come along tell that the instance is the one that the answers are of.
	Doubt bool
	// Removed: they were just taken of a bundle that the files do not hold any more. Only objects that come along tell that it
	// does not go on.
	Removed bool
	// former: they were not in use where they were.
	former bool
}

// Settled says what each instance has.
type Settled struct {
	// Kept is by instance, and NAME@N for what was kept under a name that is another's now. That is nobody's: it is found
	// again only where the record tells by its digest that it was in use.
	Kept map[string]Answers
	// Came is where instances have their answers from, for those that had another name or stood in another bundle.
	Came map[string]Origin
}

// Settle decides which kept answers are whose. What is in use goes before what is former, and goes with its instance:
//
//   - A rename that was never recorded is taken back: what the record's instance was made with is found by its digest.
//   - An instance that moved here from another bundle brings its answers, also when former ones of its name are kept here.
//     Where both bundles kept them, the chain of who took what from whom tells which are the later ones.
//   - An instance that the record has and the bundle has not was renamed, where exactly one is declared that the record has
//     not.
//   - Else an instance has what is kept under its name.
//
// Nothing is dropped but what another entry holds as well.
func Settle(own Own, beside []Beside) Settled {
	s := Settled{Kept: map[string]Answers{}, Came: map[string]Origin{}}
	for name, a := range own.Kept {
		if !a.IsZero() {
			s.Kept[name] = a
		}
	}
	s.restore(own)
	for _, name := range own.Placed {
		s.arrive(own, beside, name)
	}
	s.rename(own, beside)
	return s
}

// New reports whether the bundle has an instance on the cluster that the record has not.
func (o Own) New() bool {
	return slices.ContainsFunc(o.Placed, func(name string) bool { return !o.Delivered(name) })
}

// Asks reports whether what is kept for another bundle matters; made are the digests in that bundle's record.
func (o Own) Asks(made map[string]string, declares func(instance string) bool) bool {
	return slices.ContainsFunc(slices.Sorted(maps.Keys(made)), func(name string) bool {
		return slices.Contains(o.Placed, name) && !declares(name) || declares(name) && o.New() && !o.Kept[name].IsZero()
	})
}

// restore finds by its digest what the record's instances were made with and what is kept under another name: a run ended
// after it had kept what it renamed, and before the record said so. Copies of what another entry holds go.
func (s Settled) restore(own Own) {
	for _, name := range slices.Sorted(maps.Keys(own.Made)) {
		if !own.Delivered(name) || !s.Kept[name].IsZero() {
			continue
		}
		for _, other := range slices.Sorted(maps.Keys(s.Kept)) {
			if !own.Delivered(other) && s.Kept[other].Digest() == own.Made[name] {
				s.Kept[name] = s.Kept[other]
				delete(s.Kept, other)
				break
			}
		}
		for other, a := range s.Kept { // what else that run kept was never used
			if !own.Delivered(other) && !slices.Contains(own.Declared, other) && !s.Kept[name].IsZero() && a.holds(s.Kept[name]) {
				delete(s.Kept, other)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Kept)) {
		if !aside(name) {
			continue
		}
		for other, a := range s.Kept {
			if other != name && a.holds(s.Kept[name]) {
				delete(s.Kept, name)
				break
			}
		}
	}
}

// arrive gives an instance what another bundle kept of it when it moved from there.
func (s Settled) arrive(own Own, beside []Beside, name string) {
	for _, b := range beside { // it went there, and this is another one of its name
		if !own.Delivered(name) && b.has(own.Owner, name, s.Kept[name]) {
			s.setAside(name)
		}
	}
	cur, from := s.Kept[name], Origin{Owner: own.Owner, Instance: name}
	take := func(a Answers, b Beside) { cur, from.Owner, from.former = a, b.Owner, !b.Delivered(name) }
	for again := true; again; { // whoever took it from the one that holds it has the later ones
		again = false
		for _, b := range beside {
			if a := b.Kept[name]; !a.IsZero() && !b.Declares(name) && a.cameFrom(from.Owner, cur, true) {
				take(a, b)
				again = true
			}
		}
	}
	switch {
	case own.Delivered(name) && from.former: // it went there in a run that came to nothing, or came back since
		if cur.Digest() == s.Kept[name].Digest() { // the same, whichever it was
			s.Came[name] = from
		}
		return
	case from.Owner == own.Owner && !own.Delivered(name):
		for _, in := range []bool{true, false} { // delivered there; else former there too
			for _, b := range beside {
				a := b.Kept[name]
				if from.Owner != own.Owner || a.IsZero() || b.Declares(name) || b.Delivered(name) != in || !in && !cur.IsZero() {
					continue
				}
				if cur.holds(a) {
					s.Came[name] = Origin{Owner: b.Owner, Instance: name, former: !in}
					return // a run that ended in the middle took it already
				}
				from.Doubt, from.Removed = !cur.IsZero(), b.Removed
				take(a, b)
			}
		}
	}
	if from.Owner == own.Owner {
		return
	}
	if !cur.holds(s.Kept[name]) {
		s.setAside(name)
	}
	cur.From, cur.Took, cur.Moves = from.Owner, cur.Digest(), cur.Moves+1
	s.Kept[name], s.Came[name] = cur, from
}

// rename gives the one instance that is new what the one that is gone had.
func (s Settled) rename(own Own, beside []Beside) {
	var gone, came []string
	for _, name := range slices.Sorted(maps.Keys(s.Kept)) {
		moved := slices.ContainsFunc(beside, func(b Beside) bool {
			return b.Declares(name) && (!b.Delivered(name) || b.Kept[name].cameFrom(own.Owner, own.Kept[name], true))
		})
		if own.Delivered(name) && !slices.Contains(own.Declared, name) && !moved {
			gone = append(gone, name)
		}
	}
	for _, name := range own.Placed {
		if from, moved := s.Came[name]; !own.Delivered(name) && (!moved || from.former) {
			came = append(came, name)
		}
	}
	if len(gone) != 1 || len(came) != 1 {
		return
	}
	from, to := gone[0], came[0]
	was, live := s.Kept[to], s.Kept[from]
	s.Came[to] = Origin{Owner: own.Owner, Instance: from, Doubt: !was.IsZero() && !was.holds(live)}
	s.setAside(from) // until the record has the new name
	if !was.holds(live) {
		s.setAside(to)
		s.Kept[to] = live
	}
}

// cameFrom reports whether answers are what a bundle had, and perhaps changed since they moved. Where it was not noted what was
// taken, that tells only of those of one name (named), and only for the next move.
func (a Answers) cameFrom(owner string, had Answers, named bool) bool {
	same := a.Took == had.Digest()
	if a.Took == "" {
		same = named && a.Moves == had.Moves+1
	}
	return a.From == owner && same && a.Moves > had.Moves
}

// has reports whether a bundle declares, under whatever name, what came there from another one that had it under the name.
func (b Beside) has(owner, name string, had Answers) bool {
	for key, a := range b.Kept {
		if !aside(key) && b.Declares(key) && a.cameFrom(owner, had, key == name) {
			return true
		}
	}
	return false
}

// setAside keeps what is kept under a name for nobody.
func (s Settled) setAside(name string) {
	a := s.Kept[name]
	delete(s.Kept, name)
	for n := 1; !a.IsZero(); n++ {
		key := fmt.Sprintf("%s@%d", name, n)
		if _, there := s.Kept[key]; !there {
			s.Kept[key] = a
			return
		}
	}
}

// aside reports whether something is kept for nobody: instances have no such names.
func aside(name string) bool { return strings.Contains(name, "@") }

// holds reports whether the answers are all of the others, and perhaps more.
func (a Answers) holds(other Answers) bool {
	for _, c := range other.Calls {
		if !slices.ContainsFunc(a.Calls, func(own Call) bool { return own.Same(c) && own.Value == c.Value }) {
			return false
		}
	}
	for name, held := range other.Secrets {
		for key, value := range held {
			if a.Secrets[name][key] != value {
				return false
			}
		}
	}
	return true
}

// Beyond are the calls that the others do not answer alike: what was made anew.
func (a Answers) Beyond(other Answers) Answers {
	out := Answers{}
	for _, c := range a.Calls {
		if !other.holds(Answers{Calls: []Call{c}}) {
			out.Calls = append(out.Calls, c)
		}
	}
	return out
}

// Stamp writes into what is kept now where it came from.
func (s Settled) Stamp(now map[string]Answers) {
	for name, a := range now {
		a.From, a.Moves, a.Took = s.Kept[name].From, s.Kept[name].Moves, s.Kept[name].Took
		now[name] = a
	}
}

// Same reports whether equal answers are kept, which came from the same places.
func Same(a, b map[string]Answers) bool {
	covers := func(a, b map[string]Answers) bool {
		for name, x := range a {
			if y := b[name]; !x.IsZero() && (x.Digest() != y.Digest() || x.From != y.From || x.Moves != y.Moves || x.Took != y.Took) {
				return false
			}
		}
		return true
	}
	return covers(a, b) && covers(b, a)
}

// HandOver is what another bundle of the same files keeps when a bundle is deleted, whose instances of the same names move
// there.
func HandOver(to Own, from Beside) map[string]Answers {
	s := Settled{Kept: maps.Clone(to.Kept), Came: map[string]Origin{}}
	if s.Kept == nil {
		s.Kept = map[string]Answers{}
	}
	for _, name := range to.Declared {
		s.arrive(to, []Beside{from}, name)
	}
	return s.Kept
}
