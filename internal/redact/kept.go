package redact

import "slices"

// maxOpen bounds the texts that are left shown, and the values that are tried at them one by one.
const maxOpen = 2000

// Leave leaves texts shown, whatever somebody kept as a secret (AddKept).
func (r *Redactor) Leave(texts ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]bool{}
	}
	for _, text := range texts {
		if len(r.open) < maxOpen {
			r.open[text] = true
		}
	}
}

// AddKept is AddFor for values of which somebody else said that they are secret: those by which one of the texts that are left shown
// would be hidden are not.
func (r *Redactor) AddKept(instance string, values []string) {
	if r == nil || len(values) == 0 {
		return
	}
	all := &Redactor{}
	for _, v := range values {
		all.AddFor(instance, v)
	}
	var falsified []string
	r.mu.RLock()
	for text := range r.open {
		if all.Value(instance, text) != text {
			falsified = append(falsified, text)
		}
	}
	r.mu.RUnlock()
	for i, v := range values {
		if len(falsified) > 0 {
			one := &Redactor{}
			one.AddFor(instance, v)
			if i >= maxOpen || slices.ContainsFunc(falsified, func(text string) bool { return one.Value(instance, text) != text }) {
				continue
			}
		}
		r.AddFor(instance, v)
	}
}
