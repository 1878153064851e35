// Package chance is what is made up once and then kept: passwords, keys, certificates and moments that a chart or a
// bundle asks for. It says which kept answer belongs to which call, makes new ones of a Source of randomness that it is
// given, and names them, so that one can be asked for again.
//
// chance must not know where answers are kept, what a template is, nor a source of randomness of its own.
package chance

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Call is one call of a function that makes something up, and its answer.
type Call struct {
	// Template is where the call stands: CHART/templates/x.yaml, "" for a text that was handed to tpl, or the path of a
	// value of the bundle. Func is the function's name.
	Template string `json:"template,omitempty"`
	Func     string `json:"func"`
	// Args is a digest of the arguments, Line one of the text of the line; equal calls are told apart by their order.
	Args string `json:"args,omitempty"`
	Line string `json:"line,omitempty"`
	// Value is the answer: a text, a number, a time as RFC 3339, a Pair as JSON.
	Value string `json:"value"`
	// Public is set for what is no secret: a moment, a number.
	Public bool `json:"public,omitempty"`
}

// Name is what people call the answer: "app/templates/secret.yaml:randAlphaNum", or the path of the bundle's value.
func (c Call) Name() string {
	switch {
	case c.Func == Generate:
		return c.Template
	case c.Template == "":
		return "tpl:" + c.Func
	}
	return c.Template + ":" + c.Func
}

// Same reports whether two calls ask for the same: equal template, function and arguments.
func (c Call) Same(other Call) bool {
	return c.Template == other.Template && c.Func == other.Func && c.Args == other.Args
}

// Generate is the function's name of calls that stand in a bundle's values.
const Generate = "generate"

// Pair is a certificate with its key, both PEM.
type Pair struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// Answers are all that was made up for one instance on one cluster. The zero Answers are none.
type Answers struct {
	Calls []Call `json:"calls,omitempty"`
	// Secrets are the made-up entries of Secrets that a chart looks up to find what it made before:
	// NAMESPACE/NAME -> key -> base64.
	Secrets Entries `json:"secrets,omitempty"`
	// From is the owner id of the bundle that the instance moved here from, Moves how often it moved: of two bundles that
	// kept answers of one instance, the one that took them from the other has the later ones. Took is the digest of what was
	// taken, "" where that was not noted. None of them is part of the Digest.
	From  string `json:"from,omitempty"`
	Moves int    `json:"moves,omitempty"`
	Took  string `json:"took,omitempty"`
}

// IsZero reports that there are none.
func (a Answers) IsZero() bool { return len(a.Calls) == 0 && len(a.Secrets) == 0 }

// Digest is equal for equal answers, "" for none.
func (a Answers) Digest() string {
	if a.IsZero() {
		return ""
	}
	a.From, a.Moves, a.Took = "", 0, ""
	data, err := json.Marshal(a)
	if err != nil { // texts alone
		return "unknown"
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Generated are the texts that were made and must not be shown: of pairs the keys.
func (a Answers) Generated() []string {
	var out []string
	for _, c := range a.Calls {
		var p Pair
		switch {
		case c.Public:
		case strings.HasPrefix(c.Value, "{") && json.Unmarshal([]byte(c.Value), &p) == nil && p.Key != "":
			out = append(out, p.Key)
		default:
			out = append(out, c.Value)
		}
	}
	return out
}

// Holding are the answers with what a Secret holds that was looked up (namespace/name); one that is not there, or empty, adds nothing.
func (a Answers) Holding(name string, secret map[string]any) Answers {
	held, _ := secret["data"].(map[string]any)
	if len(held) == 0 {
		return a
	}
	data := map[string]string{}
	for k, v := range held {
		data[k], _ = v.(string)
	}
	if a.Secrets = maps.Clone(a.Secrets); a.Secrets == nil {
		a.Secrets = Entries{}
	}
	a.Secrets[name] = data
	return a
}

// Found are the texts of Secrets that were looked up and must not be shown.
func (a Answers) Found() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a.Secrets)) {
		for _, key := range slices.Sorted(maps.Keys(a.Secrets[name])) {
			text, err := base64.StdEncoding.DecodeString(a.Secrets[name][key])
			if err == nil && !strings.Contains(string(text), "-----BEGIN CERTIFICATE") {
				out = append(out, string(text))
			}
		}
	}
	return out
}

// Hidden are Generated and Found.
func (a Answers) Hidden() []string { return append(a.Generated(), a.Found()...) }

// Secret reports whether a call was answered with something that must not be shown.
func (a Answers) Secret() bool {
	return slices.ContainsFunc(a.Calls, func(c Call) bool { return !c.Public })
}

// Names are those of all answers, each once, in order.
func (a Answers) Names() []string {
	var out []string
	for _, c := range a.Calls {
		out = append(out, c.Name())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Without are the answers without those of a name, and how many went. A name is Call.Name, a template (whole or its last
// element), a function, or "" for all. What look-ups find of these answers goes too: the entries that hold one, and what else
// their Secret has that holds none of those that stay.
func (a Answers) Without(name string) (Answers, int) {
	var gone, stay []Call
	for _, c := range a.Calls {
		if name == "" || slices.Contains([]string{c.Name(), c.Template, path.Base(c.Template), c.Func}, name) {
			gone = append(gone, c)
		} else {
			stay = append(stay, c)
		}
	}
	out := Answers{Calls: stay}
	for at, held := range a.Secrets {
		made := name == ""
		for _, value := range held {
			made = made || holdsAny(value, gone)
		}
		left := maps.Clone(held)
		maps.DeleteFunc(left, func(_, value string) bool { return made && (holdsAny(value, gone) || !holdsAny(value, stay)) })
		if name == "" || len(left) == 0 {
			continue
		}
		if out.Secrets == nil {
			out.Secrets = Entries{}
		}
		out.Secrets[at] = left
	}
	return out, len(gone)
}

// telling is from which length on an answer is found inside of a longer text.
const telling = 8

// holdsAny reports whether an entry of a Secret, base64, is or holds one of the answers.
func holdsAny(entry string, calls []Call) bool {
	text, err := base64.StdEncoding.DecodeString(entry)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(calls, func(c Call) bool {
		var p Pair
		if strings.HasPrefix(c.Value, "{") && json.Unmarshal([]byte(c.Value), &p) == nil && p.Key != "" {
			return strings.Contains(string(text), strings.TrimSpace(p.Key)) || strings.Contains(string(text), strings.TrimSpace(p.Cert))
		}
		return string(text) == c.Value || len(c.Value) >= telling && strings.Contains(string(text), c.Value)
	})
}

// Source is what new answers are made of.
type Source struct {
	// ID tells sources apart: what one makes is nobody else's.
	ID string
	// Read fills p with random bytes. Now is the time.
	Read func(p []byte)
	Now  func() time.Time
}

// Below is an even number from 0 to n-1; n must be positive.
func (s *Source) Below(n int) int {
	limit := (1 << 62) - (1<<62)%uint64(n) // what is above would make some numbers likelier than others
	for {
		var b [8]byte
		s.Read(b[:])
		x := uint64(0)
		for _, c := range b {
			x = x<<8 | uint64(c)
		}
		if x &= 1<<62 - 1; x < limit {
			return int(x % uint64(n))
		}
	}
}

// Text is n characters of the alphabet.
func (s *Source) Text(n int, alphabet string) string {
	letters := []rune(alphabet)
	out := make([]rune, max(n, 0))
	for i := range out {
		out[i] = letters[s.Below(len(letters))]
	}
	return string(out)
}

// UUID is a random one, version 4.
func (s *Source) UUID() string {
	var b [16]byte
	s.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// DigestOf is a short digest of parts, for Args and Line.
func DigestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
