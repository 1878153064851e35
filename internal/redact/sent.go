package redact

import (
	"maps"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// AddSent makes a credential secret that is sent to a server, as a whole: a token tells its bearer's name and rights when it is taken
// apart, which are no secrets. From 12 bytes on it is hidden wherever it turns up; one that is made of words (a name, an address, a path, a line of
// ours) only in what others say (Redact, Said), as whoever gives it may have chosen it so that it hides something of a plan. A shorter one that
// could be a word is hidden nowhere. A fleet may have thousands, which become known one after the other while texts are masked.
func (r *Redactor) AddSent(credential string) {
	if r == nil {
		return
	}
	whole := []string{credential}
	if len(credential) < shortestGenerated || len(numbersOf(whole)) > 0 {
		r.addParts([2]string{"sent" + Nobody, credential}, Nobody, false, func(string) []string { return whole })
		return
	}
	if ofWords(credential) {
		r.said.add(credential)
		return
	}
	r.sent.add(credential)
}

// Heard is AddSent, which tells somebody else of the credential, too; nil tells nobody.
func (r *Redactor) Heard(tell func(credential string)) func(credential string) {
	return func(credential string) {
		r.AddSent(credential)
		if tell != nil {
			tell(credential)
		}
	}
}

// longestOfWords is how long a word may be of a credential that is made of words: random letters go on.
const longestOfWords = 12

// ofWords reports whether words, and numbers that are no large ones, are all that is in a text. Many letters without an end, or capitals every
// now and then, are no words.
func ofWords(text string) bool {
	if !strings.ContainsFunc(text, unicode.IsLetter) || !plainText(text) || digitsIn(text) >= 2*shortestNumber {
		return false
	}
	for _, letters := range strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) }) {
		words, letter, all := 1, 0, utf8.RuneCountInString(letters)
		for i, c := range letters {
			if letter++; i > 0 && unicode.IsUpper(c) {
				words, letter = words+1, 1
			}
			if letter > longestOfWords {
				return false
			}
		}
		if all > longestOfWords/2 && all < 3*words {
			return false
		}
	}
	return true
}

// often is after how many bytes of texts all that was sent is sorted into one list.
const often = 1 << 20

// sent are long credentials. Lists of them are merged when two are of a like size, so that one more never means that all are sorted anew (the
// logarithmic method of Bentley and Saxe, 1980), and into one when much is masked.
type sent struct {
	mu    sync.Mutex
	known map[string]bool
	fresh map[string]where // forms in no list yet
	lists []sentForms      // the longest first
	read  int              // bytes that were masked since something was added
}

type sentForms struct {
	forms  map[string]where
	finder *finder
}

func (s *sent) add(credential string) {
	s.mu.Lock()
	known := s.known[credential]
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[credential] = true
	s.mu.Unlock()
	if known {
		return
	}
	forms := formsOf(credential, []string{credential})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh == nil {
		s.fresh = map[string]where{}
	}
	for _, f := range forms {
		if len(f.text) >= shortestGenerated {
			s.fresh[f.text] = anywhere
		}
	}
}

// any reports whether something was sent.
func (s *sent) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known) > 0
}

// spans adds what of a text is, or holds, what was sent.
func (s *sent) spans(text string, out []span) []span {
	for _, l := range s.sorted(len(text)) {
		out = append(out, l.finder.spans(text)...)
	}
	return out
}

// sorted are the lists to look into for a text of a size. They are not changed any more.
func (s *sent) sorted(size int) []sentForms {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read += size; len(s.fresh) > 0 {
		s.lists = append(s.lists[:len(s.lists):len(s.lists)], sentForms{forms: s.fresh})
		s.fresh, s.read = nil, 0
	}
	for n := len(s.lists); n > 1 && (s.read > often || len(s.lists[n-2].forms) < 2*len(s.lists[n-1].forms)); n-- {
		both := maps.Clone(s.lists[n-2].forms)
		maps.Copy(both, s.lists[n-1].forms)
		s.lists = append(s.lists[:n-2:n-2], sentForms{forms: both})
	}
	if n := len(s.lists); n > 0 && s.lists[n-1].finder == nil {
		s.lists[n-1].finder = newFinder(s.lists[n-1].forms, nil)
	}
	return s.lists
}
