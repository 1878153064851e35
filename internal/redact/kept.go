package redact

import (
	"maps"
	"slices"
)

// maxOpen bounds the texts that are left shown, maxTried the values that are tried at them.
const (
	maxOpen  = 20000
	maxTried = 50000
)

// kept are values of which somebody else said that they are secret, by instance, and the texts that they do not hide.
type kept struct {
	open   map[string]bool
	said   map[[2]string]bool
	values map[string][]string // those that are believed
	forms  *Redactor           // of those
}

// Leave leaves texts shown, whatever somebody kept as a secret (AddKept), also before.
func (r *Redactor) Leave(texts ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept.open == nil {
		r.kept.open = map[string]bool{}
	}
	var news []string
	for _, text := range texts {
		if len(r.kept.open) < maxOpen && !r.kept.open[text] {
			r.kept.open[text] = true
			news = append(news, text)
		}
	}
	fewer := false
	for instance, values := range r.kept.values {
		if hidden := changed(r.kept.forms, instance, news); len(hidden) > 0 {
			left := maxTried
			r.kept.values[instance], fewer = believed(instance, values, hidden, &left), true
		}
	}
	if !fewer {
		return
	}
	r.kept.forms, r.built = &Redactor{}, nil
	for instance, values := range r.kept.values {
		for _, v := range values {
			r.kept.forms.AddFor(instance, v)
		}
	}
}

// AddKept is AddFor for values, by instance, of which somebody else said that they are secret: those by which one of the texts that
// are left shown, now or later, would be hidden are not.
func (r *Redactor) AddKept(values map[string][]string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for instance, said := range values {
		r.addKept(instance, said)
	}
}

func (r *Redactor) addKept(instance string, values []string) {
	if r.kept.said == nil {
		r.kept.said, r.kept.values, r.kept.forms = map[[2]string]bool{}, map[string][]string{}, &Redactor{}
	}
	var news []string
	for _, v := range values {
		if key := [2]string{instance, v}; !r.kept.said[key] {
			r.kept.said[key] = true
			news = append(news, v)
		}
	}
	left := maxTried
	news = believed(instance, news, slices.Collect(maps.Keys(r.kept.open)), &left)
	for _, v := range news {
		r.kept.forms.AddFor(instance, v)
		r.built = nil
	}
	r.kept.values[instance] = append(r.kept.values[instance], news...)
}

// believed are the values that hide none of the texts; left is how many may be tried still, and what is not tried is not believed.
func believed(instance string, values, texts []string, left *int) []string {
	if *left -= len(values); *left < 0 {
		return nil
	}
	all := &Redactor{}
	for _, v := range values {
		all.AddFor(instance, v)
	}
	hidden := changed(all, instance, texts)
	switch half := len(values) / 2; {
	case len(hidden) == 0:
		return values
	case half == 0:
		return nil
	default:
		return append(slices.Clone(believed(instance, values[:half], hidden, left)), believed(instance, values[half:], hidden, left)...)
	}
}

// changed are the texts in which a Redactor hides something.
func changed(r *Redactor, instance string, texts []string) []string {
	var out []string
	for _, text := range texts {
		if r.Value(instance, text) != text {
			out = append(out, text)
		}
	}
	return out
}
