package planfile

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"hawser.dev/hawser/internal/diag"
)

const (
	kind    = "hawser.dev/plan"
	version = 3
	// Limit bounds what is read, in bytes.
	Limit = 64 << 20
	// CodeNoPlan is the code of findings about files that are no plan files.
	CodeNoPlan = "plan-file"
)

// File is a saved plan.
type File struct {
	// Request is what a plan depends on besides the clusters, Plan what was shown; both are JSON.
	Request, Plan json.RawMessage
	// Salt is that of the keyed digests.
	Salt []byte

	seal seal
}

// seal authenticates the rest of the file. Key names the key without telling anything of it.
type seal struct {
	Key string `json:"key"`
	MAC string `json:"mac"`
}

type form struct {
	V       int             `json:"v"`
	Kind    string          `json:"kind"`
	Salt    string          `json:"salt"`
	Request json.RawMessage `json:"request"`
	Plan    json.RawMessage `json:"plan"`
	Seal    *seal           `json:"seal,omitempty"`
}

// NewSalt makes the salt of one file's keyed digests.
func NewSalt() []byte {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return salt
}

// Encode is the file's text, sealed when there is a key.
func (f File) Encode(key Key) ([]byte, error) {
	out := form{V: version, Kind: kind, Salt: hex.EncodeToString(f.Salt), Request: f.Request, Plan: f.Plan}
	if len(key) > 0 {
		mac, err := f.mac(key)
		if err != nil {
			return nil, err
		}
		out.Seal = &seal{Key: key.ID(), MAC: hex.EncodeToString(mac)}
	}
	data, err := json.MarshalIndent(out, "", " ")
	return append(data, '\n'), err
}

// Digest is "sha256:<hex>" of a file's text.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ID names everything that is read of a file: whoever changes any of it makes another file. The seal is no part of it.
func (f File) ID() (string, error) {
	sum, err := f.sum(sha256.New())
	return "sha256:" + hex.EncodeToString(sum), err
}

// mac authenticates everything that is read of a file.
func (f File) mac(key Key) ([]byte, error) { return f.sum(hmac.New(sha256.New, key)) }

// sum is taken over everything that is read of a file, each part with its length.
func (f File) sum(h hash.Hash) ([]byte, error) {
	fmt.Fprintf(h, "%s\n%x\n", kind, f.Salt)
	for _, part := range []json.RawMessage{f.Request, f.Plan} {
		text, err := json.Marshal(part) // as the file has it, without its white space
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%d\n%s\n", len(text), text)
	}
	return h.Sum(nil), nil
}

// Seal is what a file's seal says.
type Seal string

const (
	// Sound: this key sealed the file, and it is as it was then.
	Sound Seal = "sound"
	// Edited: this key sealed the file, and it was changed since.
	Edited Seal = "edited"
	// Unknown: the file has no seal, or one of another key: it was made by somebody else, or on another machine.
	Unknown Seal = "unknown"
)

// Sealed checks the seal with a key; nil is no key.
func (f File) Sealed(key Key) Seal {
	if len(key) == 0 || f.seal.Key != key.ID() {
		return Unknown
	}
	want, err := f.mac(key)
	got, herr := hex.DecodeString(f.seal.MAC)
	if err != nil || herr != nil || !hmac.Equal(want, got) {
		return Edited
	}
	return Sound
}

// Decode reads a file. What is none is a finding that says what it looks like; it names the reader's file where that has a
// name.
func Decode(r io.Reader) (*File, error) {
	name := "this"
	if n, ok := r.(interface{ Name() string }); ok {
		name = n.Name()
	}
	data, err := io.ReadAll(io.LimitReader(r, Limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if len(data) > Limit {
		return nil, notOne(name, fmt.Sprintf("it is larger than %d MiB", Limit>>20))
	}
	var in form
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, looksLike(name, data, "it is no JSON of that kind")
	}
	switch {
	case in.Kind != kind:
		return nil, looksLike(name, data, "it is JSON of another kind than "+kind)
	case in.V != version:
		f := diag.Errorf(CodeNoPlan, "the plan file %s has version %d, and this hawser reads version %d", name, in.V, version)
		f.Fix = "plan again with this hawser: hawser plan -f BUNDLE --out FILE"
		return nil, diag.Findings{f}.Err()
	case !isObject(in.Plan) || !isObject(in.Request):
		return nil, notOne(name, "it holds no plan")
	}
	out := &File{Request: in.Request, Plan: in.Plan}
	if in.Seal != nil {
		out.seal = *in.Seal
	}
	if out.Salt, err = hex.DecodeString(in.Salt); err != nil || len(out.Salt) == 0 {
		return nil, notOne(name, "its salt is damaged")
	}
	return out, nil
}

func isObject(data []byte) bool { return len(data) > 0 && data[0] == '{' }

// looksLike says what a file that is no plan looks like, in our words: the name may be a link that leads to what is nobody's business.
func looksLike(name string, data []byte, why string) error {
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return notOne(name, "it is empty")
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return notOne(name, "it is an archive, such as Terraform's plans are")
	case bytes.Contains(text[:min(len(text), 4096)], []byte("bundle")) && text[0] != '{',
		bytes.Contains(text[:min(len(text), 4096)], []byte("apiVersion")):
		f := notAPlan(name, "it looks like a bundle or a manifest")
		f.Fix = "bundles and manifests are named with -f: hawser apply -f " + name
		return diag.Findings{f}.Err()
	case text[0] == '{' && text[len(text)-1] != '}':
		return notOne(name, "it ends in the middle")
	}
	return notOne(name, why)
}

func notAPlan(name, why string) diag.Finding {
	f := diag.Errorf(CodeNoPlan, "%s is not a plan file", name)
	f.Why, f.Fix = why, "plan files are made with: hawser plan -f BUNDLE --out FILE"
	return f
}

func notOne(name, why string) error { return diag.Findings{notAPlan(name, why)}.Err() }
