package chance

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Mark tells one made-up text of a release without holding it: which call it was the answer of, and its digest. A certificate has two.
type Mark struct {
	// Call is a digest of template, function, arguments and part, Line that of the text of the line.
	Call string `json:"call"`
	Line string `json:"line,omitempty"`
	// Derived: it was made of arguments that may be made up themselves. Whole: it stands for nothing else only where it is all of a text.
	Derived bool `json:"derived,omitempty"`
	Whole   bool `json:"whole,omitempty"`
	// Length is the text's, Digest of it.
	Length int    `json:"length"`
	Digest string `json:"digest"`
}

// Text is a made-up text with its mark.
type Text struct {
	Mark
	Value string
}

// derived are the functions that make something of what may be made up itself.
var derived = []string{"genSignedCert", "genSignedCertWithKey", "genCAWithKey", "genSelfSignedCertWithKey", "htpasswd", "bcrypt", "encryptAES", "shuffle"}

// Texts are the made-up texts that must not be shown, with their marks: in the order of the calls, and what look-ups find.
func (a Answers) Texts() []Text {
	var out []Text
	add := func(call, line, value string, isDerived, whole bool) {
		if value != "" {
			out = append(out, Text{Mark{call, line, isDerived, whole || len(value) < telling, len(value), TextDigest(value)}, value})
		}
	}
	for _, c := range a.Calls {
		var p Pair
		of := func(part string) string { return DigestOf(c.Template, c.Func, c.Args, part) }
		switch isDerived := slices.Contains(derived, c.Func); {
		case c.Public:
		case strings.HasPrefix(c.Value, "{") && json.Unmarshal([]byte(c.Value), &p) == nil && p.Key != "":
			add(of("cert"), c.Line, strings.TrimSpace(p.Cert), isDerived, false)
			add(of("key"), c.Line, strings.TrimSpace(p.Key), isDerived, false)
		default:
			add(of(""), c.Line, strings.TrimSpace(c.Value), isDerived, false)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(a.Secrets)) {
		for _, key := range slices.Sorted(maps.Keys(a.Secrets[at])) {
			if text, err := base64.StdEncoding.DecodeString(a.Secrets[at][key]); err == nil {
				add(DigestOf("lookup", at, key), "", strings.TrimSpace(string(text)), false, true)
			}
		}
	}
	return out
}

// Marks are those of all Texts.
func (a Answers) Marks() []Mark {
	var out []Mark
	for _, t := range a.Texts() {
		out = append(out, t.Mark)
	}
	return out
}

// Superseded is a made-up text of a release that is kept no more; Now is what is kept of the same call, "" where nothing is, or
// nobody can tell.
type Superseded struct {
	Mark
	Now string
}

// Since compares the marks of a release with what is kept now: what was made anew, and which derived texts are kept still and may be
// of something that was.
func (a Answers) Since(then []Mark) (gone []Superseded, doubtful []Text) {
	texts := a.Texts()
	has := func(m Mark) bool {
		return slices.ContainsFunc(texts, func(t Text) bool { return t.Digest == m.Digest })
	}
	lost := map[string][]Mark{}
	var calls []string
	for _, m := range then {
		if !has(m) {
			if lost[m.Call] == nil {
				calls = append(calls, m.Call)
			}
			lost[m.Call] = append(lost[m.Call], m)
		}
	}
	for _, call := range calls {
		var heirs []Text
		for _, t := range texts {
			if t.Call == call && !slices.ContainsFunc(then, func(m Mark) bool { return m.Digest == t.Digest }) {
				heirs = append(heirs, t)
			}
		}
		gone = append(gone, paired(lost[call], heirs)...)
	}
	for _, t := range texts {
		if len(gone) > 0 && t.Derived && slices.ContainsFunc(then, func(m Mark) bool { return m.Digest == t.Digest }) {
			doubtful = append(doubtful, t)
		}
	}
	return gone, doubtful
}

// paired gives equal calls their heirs: those of the same line in their order, and a single one that is left the other one that is.
func paired(lost []Mark, heirs []Text) []Superseded {
	out := make([]Superseded, len(lost))
	for i, m := range lost {
		out[i].Mark = m
	}
	on := func(line string) (marks []int, texts []int) {
		for i, m := range lost {
			if m.Line == line {
				marks = append(marks, i)
			}
		}
		for i, t := range heirs {
			if t.Line == line {
				texts = append(texts, i)
			}
		}
		return marks, texts
	}
	used := map[int]bool{}
	for _, m := range lost {
		if marks, texts := on(m.Line); len(marks) == len(texts) {
			for n, i := range marks {
				out[i].Now, used[texts[n]] = heirs[texts[n]].Value, true
			}
		}
	}
	var left []int
	for i := range out {
		if out[i].Now == "" {
			left = append(left, i)
		}
	}
	if len(left) == 1 && len(heirs)-len(used) == 1 {
		for n, t := range heirs {
			if !used[n] {
				out[left[0]].Now = t.Value
			}
		}
	}
	return out
}

// Began reports whether the digest of a release is that of the answers that are kept, or of the first of them: nothing was made anew
// since, also where the release noted no marks.
func (a Answers) Began(digest string) bool {
	for n := range len(a.Calls) + 1 {
		for _, secrets := range []map[string]map[string]string{a.Secrets, nil} {
			if (Answers{Calls: a.Calls[:n], Secrets: secrets}).Digest() == digest {
				return true
			}
		}
	}
	return false
}

// Recorded are those of the answers that a release has, by its digests and marks; an instance that it does not have at all has what look-ups
// find. Where nobody can tell, or the answers came along from another bundle, it is all of them.
func (a Answers) Recorded(made map[string]string, marks map[string][]Mark, instance string) Answers {
	digests, known := slices.Collect(maps.Values(made)), slices.Concat(slices.Collect(maps.Values(marks))...)
	if a.From != "" || slices.Contains(digests, a.Digest()) || made[instance] != "" && len(marks[instance]) == 0 {
		return a
	}
	out := Answers{Secrets: a.Secrets}
	for i, c := range a.Calls {
		has := slices.ContainsFunc((Answers{Calls: a.Calls[i : i+1]}).Texts(), func(t Text) bool {
			return slices.ContainsFunc(known, func(m Mark) bool { return m.Digest == t.Digest })
		})
		if has || c.Public && len(made) > 0 && len(out.Calls) == i { // those have no marks
			out.Calls = append(out.Calls, c)
		}
	}
	return out
}

// TextDigest is the digest of a made-up text in its mark.
func TextDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
