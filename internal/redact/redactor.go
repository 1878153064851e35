// Package redact knows what is secret, and masks it in texts by provenance: it knows the values themselves and never guesses
// from the look of a text.
//
// redact must not know how secrets are read, nor what a value or a text is for.
package redact

import (
	"sync"
	"unicode"
)

// Mask stands in for every secret value.
const Mask = "***"

// shortest is the length from which a part of a value is worth hiding by itself, shortestNumber that of numbers that stand
// for nothing else.
const (
	shortest       = 4
	shortestNumber = 8
)

// Redactor masks the values it was given, in the forms they usually take (forms.go). How far a value is looked for depends
// on what it is and where it went (strength.go): what could be a word of ours or anybody's is hidden only in what belongs
// to an instance that takes it. All that is hidden in a text is masked as one union, however many secrets it is part of.
// The zero Redactor is ready and masks nothing; all methods may be called concurrently. A nil *Redactor masks nothing.
type Redactor struct {
	mu sync.RWMutex
	// known are the forms of values, by the instance that takes them; "" is for any.
	known map[string]map[form]bool
	// numbers are values that are numbers, likewise.
	numbers map[string]map[float64]strength
	// added are the values, by instance, that are known already.
	added map[[2]string]bool
	kept  kept
	// shown are texts that are shown, with the instances in which they are (Show).
	shown map[string][]string
	// left are those that were masked already (ShowMasked).
	left map[string][]left
	// sent are credentials that were sent, said those of words, which are hidden in what others say alone.
	sent, said sent
	// heard knows what is hidden in messages alone (AddHeard), nil for nothing.
	heard *Redactor
	// sources are what values are called (Called).
	sources []source
	// built are finders that fit what is known, by what they are for.
	built map[string]*finder
}

// Nobody is the instance of values that have gone nowhere yet: what is common in them is not looked for.
const Nobody = "\x00"

// New makes a Redactor that knows the values, wherever they went.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		r.Add(v)
	}
	return r
}

// Add makes a value secret from now on that may have gone to any instance. Empty values and the words true, false and null
// hide nothing and are left alone: masking them would ruin every text.
func (r *Redactor) Add(value string) { r.AddFor("", value) }

// AddFor makes a value secret that went to an instance: what is common in it is hidden there alone.
func (r *Redactor) AddFor(instance, value string) { r.add(instance, value, false) }

// AddGenerated makes a value secret that was made at random for an instance: nobody chose it, so that it is hidden wherever it
// turns up, also where it looks like a word. One of 6 to 11 bytes is hidden as a whole token in what is said about the
// instance, in quotes or not; a shorter one is treated as AddFor does, and one of less than 4 hides nothing: charts put such ones together, and alone
// they are any number of replicas.
func (r *Redactor) AddGenerated(instance, value string) {
	if len(value) < shortestPiece {
		return
	}
	r.add(instance, value, len(value) >= shortestMade)
}

// Whole knows one value that was made at random, in all forms that a value is written in, and no part of it: what it finds is that value.
func Whole(value string) *Redactor {
	r := New()
	r.addParts([2]string{"whole" + Nobody, value}, "", true, func(string) []string { return []string{value} })
	return r
}

// Lengths from which what was made at random stands for nothing else: about its instance, and anywhere.
const (
	shortestPiece     = 4
	shortestMade      = 6
	shortestGenerated = 12
)

func (r *Redactor) add(instance, value string, random bool) {
	key := [2]string{instance, value}
	if random {
		key[0] += Nobody // what was added as anybody's is added again as stronger
	}
	r.addParts(key, instance, random, partsOf)
}

// addParts makes the value of a key secret with what is taken out of it.
func (r *Redactor) addParts(key [2]string, instance string, random bool, partsOf func(string) []string) {
	r.mu.RLock()
	known := r.added[key]
	r.mu.RUnlock()
	if known {
		return
	}
	parts := partsOf(key[1])
	forms, numbers := formsOf(key[1], parts), numbersOf(parts)
	for i := range forms {
		if forms[i].made = random && len(forms[i].text) >= shortestMade; forms[i].made && len(forms[i].text) >= shortestGenerated {
			forms[i].strength = unmistakable
		}
	}
	if len(forms) == 0 && len(numbers) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known, r.numbers, r.added = map[string]map[form]bool{}, map[string]map[float64]strength{}, map[[2]string]bool{}
	}
	if r.known[instance] == nil {
		r.known[instance], r.numbers[instance] = map[form]bool{}, map[float64]strength{}
	}
	r.added[key] = true
	changed := false
	for _, f := range forms {
		if !r.known[instance][f] {
			r.known[instance][f] = true
			changed = true
		}
	}
	for n, s := range numbers {
		if old, ok := r.numbers[instance][n]; !ok || s > old {
			r.numbers[instance][n] = s
			changed = true
		}
	}
	if changed {
		r.built = nil
	}
}

// Sweep masks in a text that may hold sentences of our own what stands for nothing but a secret, and the user part of URLs
// that authenticates.
func (r *Redactor) Sweep(text string) string { return r.mask(sweeping, "", text) }

// Redact masks in a text of others: what Sweep does, and values of many plain words.
func (r *Redactor) Redact(text string) string { return r.mask(redacting, "", text) }

// Said masks in what a library or a server says about an instance: what Redact does, and the instance's common values
// where they stand as values, words in quotes, and others, passwords of several words among them, as whole tokens.
func (r *Redactor) Said(instance, text string) string { return r.mask(saying, instance, text) }

// Told masks in a sentence of our own about an instance: what Sweep does, numbers and texts that are no words, and words only
// where they stand in quotes or brackets, as names and values do. Somebody may choose a value so that it is such a sentence.
func (r *Redactor) Told(instance, text string) string { return r.mask(ourselves, instance, text) }

// Value masks in a value that an instance declares, or that stands in one of its objects: what Redact does, and the
// instance's common values as whole tokens.
func (r *Redactor) Value(instance, text string) string { return r.mask(valuing, instance, text) }

// Own masks in such a value what Value does for what the instance itself takes, and nothing of others.
func (r *Redactor) Own(instance, text string) string { return r.mask(owning, instance, text) }

// Name masks in the name of an object of an instance: what stands for nothing but a secret that the instance itself takes.
func (r *Redactor) Name(instance, text string) string { return r.mask(naming, instance, text) }

// Knows reports whether anything is secret.
func (r *Redactor) Knows() bool {
	if r == nil {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.known) > 0 || r.sent.any() || r.said.any() || r.kept.forms != nil && len(r.kept.forms.known) > 0
}

// purpose is what a text is that is masked.
type purpose byte

const (
	sweeping  purpose = 's'
	redacting purpose = 'r'
	saying    purpose = 'm'
	ourselves purpose = 't'
	valuing   purpose = 'v'
	naming    purpose = 'n'
	owning    purpose = 'o'
)

func (r *Redactor) mask(p purpose, instance, text string) string {
	if text == "" || r == nil {
		return text
	}
	return hide(text, userSpans(text, r.spans(p, instance, text)))
}

// spans are what of a text is hidden.
func (r *Redactor) spans(p purpose, instance, text string) []span {
	spans := r.finder(p, instance).spans(text)
	if p != naming && p != owning { // those are about what instances take
		spans = r.sent.spans(text, spans)
	}
	if p == redacting || p == saying {
		spans = remainders(text, r.said.spans(text, spans))
	}
	if (p == sweeping || p == saying || p == ourselves) && len(spans) > 0 {
		spans = unplaced(text, r.unshown(instance, text, spans))
	}
	return spans
}

// finder is the one for a purpose and an instance, made when what is known has changed.
func (r *Redactor) finder(p purpose, instance string) *finder {
	key := string(rune(p)) + instance
	r.mu.RLock()
	f := r.built[key]
	r.mu.RUnlock()
	if f != nil {
		return f
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	forms, numbers := map[string]where{}, map[float64]bool{}
	r.counting(p, instance, forms, numbers)
	if r.kept.forms != nil {
		r.kept.forms.counting(p, instance, forms, numbers)
	}
	f = newFinder(forms, numbers)
	if r.built == nil {
		r.built = map[string]*finder{}
	}
	r.built[key] = f
	return f
}

// counting adds what is known and counts for a purpose and an instance.
func (r *Redactor) counting(p purpose, instance string, forms map[string]where, numbers map[float64]bool) {
	for of, known := range r.known {
		mine := p != sweeping && p != redacting && (of == "" || of == instance)
		for f := range known {
			w, ok := f.at(p, mine)
			if old, there := forms[f.text]; ok && (!there || w < old) {
				forms[f.text] = w
			}
		}
		for n, s := range r.numbers[of] {
			if mine && (p != naming || s == unmistakable) || s == unmistakable && p != naming && p != owning {
				numbers[n] = true
			}
		}
	}
}

// at is where a form counts for a purpose, mine in what belongs to an instance that takes it.
func (f form) at(p purpose, mine bool) (where, bool) {
	switch {
	case p == owning && !mine:
		return 0, false
	case p == ourselves && mine && f.strength != unmistakable && (f.word && !f.made || f.strength == phrase):
		return enclosed, true
	case f.strength == unmistakable && (p != naming || mine), f.strength == phrase && (p == redacting || mine && p != naming):
		return anywhere, true
	case p == naming:
		return 0, false
	case !mine:
		return 0, false
	case len(f.text) >= shortest && !f.word:
		return anywhere, true
	case p == saying && f.word && !f.made && !f.pieced:
		return quotedly, true
	}
	return alone, true
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
