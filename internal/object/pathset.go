package object

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"hawser.dev/hawser/internal/pathmask"
)

// maxTries are the items of lists that one pathSet is compared with: paths that say which item they mean take a few each, those of a
// hostile record could take all of them for every item.
const maxTries = 1 << 22

// pathSet are paths of Object.Sensitive, looked up step by step: what that takes grows with the object and its paths, and not with
// their product.
type pathSet struct {
	paths []string // sorted, each once
	items map[span]*itemSteps
	tries int
}

// span are paths[lo:hi], which are the same up to at, and what comes there is to be read next.
type span struct{ lo, hi, at int }

// itemSteps are the steps into a list that paths of a span say next: by the value of a field, by position, and those that may mean any.
type itemSteps struct {
	all        []itemStep
	byField    map[fieldValue][]int
	fields     []string
	byPosition map[int][]int
	any        []int
}

type itemStep struct {
	el   fieldpath.PathElement
	next span
}

func newPathSet(paths []string) *pathSet {
	sorted := slices.Clone(paths)
	slices.Sort(sorted)
	return &pathSet{paths: slices.Compact(sorted), items: map[span]*itemSteps{}}
}

// weary: a hostile record asks for more than anybody says.
func (p *pathSet) weary() bool { return p.tries > maxTries }

// start is the span of all.
func (p *pathSet) start() []span { return []span{{0, len(p.paths), 0}} }

// ended is the position of a path that ends where the spans stand, -1 for none.
func (p *pathSet) ended(spans []span) int {
	for _, s := range spans {
		if len(p.paths[s.lo]) == s.at {
			return s.lo
		}
	}
	return -1
}

// narrow is the part of a span that goes on with a text, behind it; false where none does.
func (p *pathSet) narrow(s span, text string) (span, bool) {
	in := p.paths[s.lo:s.hi]
	lo := sort.Search(len(in), func(i int) bool { return in[i][s.at:] >= text })
	n := sort.Search(len(in)-lo, func(i int) bool { return !strings.HasPrefix(in[lo+i][s.at:], text) })
	return span{s.lo + lo, s.lo + lo + n, s.at + len(text)}, n > 0
}

// names are the parts of a span that go on with a field: in quotes where the grammar wants them, as it is in older paths.
func (p *pathSet) names(s span, name string) []span {
	quoted := JoinPath("", name)
	texts := []string{"." + quoted, quoted}
	if quoted != name {
		texts = append(texts, "."+name, name)
	}
	var out []span
	for _, text := range texts {
		here, ok := p.narrow(s, text)
		if !ok {
			continue
		}
		if len(p.paths[here.lo]) == here.at {
			out = append(out, span{here.lo, here.lo + 1, here.at})
		}
		for _, after := range []string{".", "["} {
			if below, ok := p.narrow(here, after); ok {
				below.at--
				out = append(out, below)
			}
		}
	}
	return out
}

// keyed are the parts of a span that go on with an entry by its place, as its key is secret: in another version it may be any, where no
// schema tells entries apart.
func (p *pathSet) keyed(s span, st trailStep, fits func(trailStep, fieldpath.PathElement) bool) []span {
	if _, ok := p.narrow(s, "["); !ok || s.at == 0 {
		return nil
	}
	x := p.itemSteps(s)
	var out []span
	try := func(steps []int) {
		for _, i := range steps {
			if p.tries++; p.paths[x.all[i].next.lo][s.at] == '[' && !p.weary() {
				out = append(out, x.all[i].next)
			}
		}
	}
	if !fits(st, fieldpath.IndexElement(-1)) {
		try(x.byPosition[st.at])
		return out
	}
	if in := p.paths[s.lo][:s.at]; !pathmask.Keys(in[strings.LastIndexByte(in, '.')+1:]) {
		return nil
	}
	for _, steps := range x.byPosition {
		try(steps)
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Or(a.lo-b.lo, a.at-b.at) })
	return out
}

// keys are the places of entries whose keys are secret, as a span says next, with the positions of the paths.
func (p *pathSet) keys(s span, place func(at, path int)) {
	marks, ok := p.narrow(s, "[=")
	for i := marks.lo; ok && i < marks.hi; i++ {
		digits, closed := strings.CutSuffix(p.paths[i][marks.at:], "]")
		if at, err := strconv.Atoi(digits); closed && err == nil && at >= 0 {
			place(at, i)
		}
	}
}

// within are the parts of a span that go on with an item of a list. fits tells of one which is read whether it is that item. What
// cannot be read may be any item.
func (p *pathSet) within(s span, st trailStep, fits func(trailStep, fieldpath.PathElement) bool) []span {
	x := p.itemSteps(s)
	var out []span
	try := func(steps []int) {
		for _, i := range steps {
			if p.tries++; p.weary() {
				return
			}
			if fits(st, x.all[i].el) {
				out = append(out, x.all[i].next)
			}
		}
	}
	for _, item := range []any{st.item, st.other} {
		m, _ := item.(map[string]any)
		for _, field := range x.fields {
			if key, scalar := valueOf(field, m[field]); scalar {
				try(x.byField[key])
			}
		}
	}
	if fits(st, fieldpath.IndexElement(-1)) { // in another version a position may be any
		for _, steps := range x.byPosition {
			if try(steps); p.weary() {
				break
			}
		}
	} else if n, err := strconv.Atoi(st.position); err == nil {
		try(x.byPosition[n])
	}
	try(x.any)
	slices.SortFunc(out, func(a, b span) int { return cmp.Or(a.lo-b.lo, a.at-b.at) })
	return slices.Compact(out)
}

// fieldValue finds the steps that name a field's value: what is equal has one key, and long texts share theirs with others.
type fieldValue struct {
	field, text string
	number      float64
	length      int
}

func valueOf(field string, v any) (key fieldValue, scalar bool) {
	const most = 256
	key.field = field
	switch v := v.(type) {
	case string:
		key.text, key.length = v[:min(len(v), most)], len(v)
	case int64:
		key.number, key.length = float64(v), -1
	case float64:
		key.number, key.length = v, -1
	default:
		return key, false
	}
	return key, true
}

// itemSteps reads once what the paths of a span say next of an item.
func (p *pathSet) itemSteps(s span) *itemSteps {
	if x := p.items[s]; x != nil {
		return x
	}
	x := &itemSteps{byField: map[fieldValue][]int{}, byPosition: map[int][]int{}}
	p.items[s] = x
	before := ""
	for i := s.lo; i < s.hi; i++ {
		text := p.paths[i][s.at:]
		if n := len(x.all); before != "" && strings.HasPrefix(text, before) && before[0] == '[' {
			x.all[n-1].next.hi = i + 1
			continue
		}
		el, rest, known := itemElement(text)
		switch {
		case known:
		case strings.HasPrefix(text, "["):
			_, rest, _ = strings.Cut(text, "]")
		default: // a position between dots, as in older paths
			digits, dotted := strings.CutPrefix(text, ".")
			end := strings.IndexAny(digits, ".[")
			if end < 0 {
				end = len(digits)
			}
			at, err := strconv.Atoi(digits[:end])
			if before = ""; !dotted || err != nil {
				continue
			}
			el, rest, known = fieldpath.IndexElement(at), digits[end:], true
		}
		before = text[:len(text)-len(rest)]
		x.add(itemStep{el, span{i, i + 1, s.at + len(before)}}, known)
		if !known { // others that begin so may be other steps: a quote may be open
			before = ""
		}
	}
	return x
}

func (x *itemSteps) add(st itemStep, known bool) {
	n := len(x.all)
	x.all = append(x.all, st)
	switch {
	case known && st.el.Key != nil:
		for _, f := range *st.el.Key {
			key, scalar := valueOf(f.Name, f.Value.Unstructured())
			if !slices.Contains(x.fields, f.Name) && scalar {
				if scalar = len(x.fields) < len(listKeys); scalar {
					x.fields = append(x.fields, f.Name)
				}
			}
			if !scalar {
				x.any = append(x.any, n)
				continue
			}
			x.byField[key] = append(x.byField[key], n)
		}
	case known && st.el.Index != nil:
		x.byPosition[*st.el.Index] = append(x.byPosition[*st.el.Index], n)
	default:
		x.any = append(x.any, n)
	}
}

// step goes one step of a trail on.
func (p *pathSet) step(spans []span, st trailStep, fits func(trailStep, fieldpath.PathElement) bool) []span {
	var out []span
	for _, s := range spans {
		if st.position == "" {
			out = append(append(out, p.names(s, st.name)...), p.keyed(s, st, fits)...)
		} else {
			out = append(out, p.within(s, st, fits)...)
		}
	}
	return out
}

// hide reports whether a path goes along a trail as far as both go: the value there is, holds, or stands below what was named.
func (p *pathSet) hide(trail []trailStep, fits func(trailStep, fieldpath.PathElement) bool) bool {
	if len(p.paths) == 0 {
		return false
	}
	spans := p.start()
	for _, st := range trail {
		if len(spans) == 0 {
			return false
		}
		if p.weary() || p.ended(spans) >= 0 {
			return true
		}
		spans = p.step(spans, st, fits)
	}
	return len(spans) > 0
}

// scalars calls fn with every text and number at which a path ends, and entry with every key that one names, and with the path's position.
// Either may be nil. The trail must not be kept.
func (p *pathSet) scalars(v any, trail []trailStep, spans []span, fn func(trail []trailStep, text string, path int), entry func(trail []trailStep, path int)) {
	if len(spans) == 0 || p.weary() {
		return
	}
	below := func(v any, st trailStep) {
		p.scalars(v, append(trail, st), p.step(spans, st, trailStep.is), fn, entry)
	}
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		for _, s := range spans {
			p.keys(s, func(at, path int) {
				if entry != nil && at < len(keys) && len(trail) > 0 {
					entry(append(trail, trailStep{name: keys[at], at: at}), path)
				}
			})
		}
		for i, k := range keys {
			below(v[k], trailStep{name: k, at: i})
		}
	case []any:
		for i, item := range v {
			below(item, trailStep{item: item, position: strconv.Itoa(i)})
		}
	case string, int64, float64:
		if at := p.ended(spans); at >= 0 && fn != nil {
			fn(trail, fmt.Sprint(v), at)
		}
	}
}
