package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/source"
)

// V is the version of the record's schema written by this package, and the newest one it reads.
const V = 1

// ChunkSize is the most bytes of encoded data in one stored object: a Secret holds 1 MiB at most, and base64 and
// metadata come on top on the way to etcd (https://kubernetes.io/docs/concepts/configuration/secret/).
const ChunkSize = 700 << 10

// NewerError says that a record was written by a newer Hawser, whose record this one must not touch.
type NewerError struct {
	// V is the schema version of the record, Hawser the version that wrote it ("" when it does not say).
	V      int
	Hawser string
}

// Error says what to do.
func (e *NewerError) Error() string {
	by := "a newer Hawser"
	if e.Hawser != "" {
		by += " (" + e.Hawser + ")"
	}
	return fmt.Sprintf("the record has schema version %d and was written by %s: upgrade, this one knows version %d", e.V, by, V)
}

// ErrDamaged is wrapped by errors about stored data that is not what was written.
var ErrDamaged = errors.New("the stored record is damaged")

// DamagedError says that a bundle's current record is there and cannot be read. A Put with its handle replaces it.
type DamagedError struct {
	Handle RecordVersion
	// Bundle and Revision are what the stored object says beside the record; "" and 0 when it does not.
	Bundle   string
	Revision int
	Err      error
}

// Error is that of the cause.
func (e *DamagedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// NextRevision is the number of the revision after the current one, which is 0 when there is none.
func NextRevision(current int) int { return min(current+1, MaxNumber) }

// EncodeRecord is the stored form of a record: zstd of its JSON. A zero V is written as the current one.
func EncodeRecord(r Record) ([]byte, error) {
	if r.V == 0 {
		r.V = V
	}
	if err := r.bounded(); err != nil {
		return nil, fmt.Errorf("the release cannot be kept: %w", err)
	}
	return newWriter().json(r).packed(maxRecord)
}

// DecodeRecord reads a stored record. The error is a *NewerError when its schema is newer than V.
func DecodeRecord(data []byte) (*Record, error) {
	text, err := unpack(data, maxRecord)
	if err != nil {
		return nil, err
	}
	r, err := decodeRecord(text)
	if err != nil {
		return nil, err
	}
	return r.parted(), nil
}

func decodeRecord(text []byte) (*Record, error) {
	var head struct {
		V      int    `json:"v"`
		Hawser string `json:"hawser"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if head.V > V {
		return nil, &NewerError{V: head.V, Hawser: head.Hawser}
	}
	if head.V < 1 {
		return nil, fmt.Errorf("%w: no schema version", ErrDamaged)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.Sources = source.Masked(r.Sources)
	if err := errors.Join(r.plain(), r.numbered()); err != nil {
		return nil, err
	}
	if err := r.bounded(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &r, nil
}

// stored is an object of a Set with what a renderer said about it.
type stored struct {
	Body      map[string]any  `json:"body"`
	Instance  string          `json:"instance,omitempty"`
	Stage     int             `json:"stage,omitempty"`
	Pos       diag.Pos        `json:"pos,omitzero"`
	Sensitive []string        `json:"sensitive,omitempty"`
	Hook      *object.Hook    `json:"hook,omitempty"`
	Unknown   map[string]bool `json:"-"` // of what is not applied yet
}

// EncodeRevision is the stored form of a revision, its record and its Set: zstd of JSON, as DecodeRevision reads it.
func EncodeRevision(r Record, objects []object.Object) ([]byte, error) {
	if r.V == 0 {
		r.V = V
	}
	w := newWriter()
	w.raw(`{"v":`).json(r.V)
	if r.Version != "" {
		w.raw(`,"hawser":`).json(r.Version)
	}
	w.raw(`,"record":`).json(r).raw(`,"objects":[`)
	if claims(objects) > maxClaims {
		return nil, fmt.Errorf("more than %d places of its objects are secret: part the bundle into several, or let values be Secrets", maxClaims)
	}
	for i, o := range objects { // one by one: an encoder holds what it is given as a whole, twice
		if i > 0 {
			w.raw(",")
		}
		w.json(stored(o))
	}
	return w.raw("]}").packed(maxSet)
}

// DecodeRevisionRecord reads the record alone of a stored revision: that of the owner and number, with the phase that is known
// of it now; where that is an open one, of a correction that has not ended, the one that its release ended with.
func DecodeRevisionRecord(data []byte, owner string, revision int, phase Phase) (*Record, error) {
	text, err := unpack(data, maxSet)
	if err != nil {
		return nil, err
	}
	var in struct {
		V      int             `json:"v"`
		Hawser string          `json:"hawser"`
		Record json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if in.V > V {
		return nil, &NewerError{V: in.V, Hawser: in.Hawser}
	}
	if weigh(in.Record) > maxRecord {
		return nil, fmt.Errorf("%w: it is larger than what anybody delivers", ErrDamaged)
	}
	r, err := decodeRecord(in.Record)
	if err != nil {
		return nil, err
	}
	if r.Owner != owner || r.Revision != revision || !phase.Known() {
		return nil, fmt.Errorf("%w: what is kept as revision %d (%q) of %s is revision %d of %s", ErrDamaged, revision, phase, owner, r.Revision, r.Owner)
	}
	if !phase.Open() {
		r.Phase = phase
	}
	return r.parted(), nil
}

// DecodeRevision reads a stored revision. Integers in objects are int64, as everywhere. The error is a *NewerError
// when its schema is newer than V. set is the digest that its objects must have.
func DecodeRevision(data []byte, set string) (*Record, []object.Object, error) {
	text, err := unpack(data, maxSet)
	if err != nil {
		return nil, nil, err
	}
	var in struct {
		V       int               `json:"v"`
		Hawser  string            `json:"hawser"`
		Record  json.RawMessage   `json:"record"`
		Objects []json.RawMessage `json:"objects"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if in.V > V {
		return nil, nil, &NewerError{V: in.V, Hawser: in.Hawser}
	}
	r, err := decodeRecord(in.Record)
	if err != nil {
		return nil, nil, err
	}
	objects := make([]object.Object, len(in.Objects))
	for i, raw := range in.Objects {
		in.Objects[i] = nil // it is read
		o, err := decodeObject(raw)
		if err != nil {
			return nil, nil, err
		}
		objects[i] = o
	}
	if claims(objects) > maxClaims {
		return nil, nil, fmt.Errorf("%w: it says of more than %d places that they are secret", ErrDamaged, maxClaims)
	}
	if SetDigest(objects) != set {
		return nil, nil, fmt.Errorf("%w: its objects are not those of which it has the digest: somebody wrote it", ErrDamaged)
	}
	return r, objects, nil
}

func decodeObject(raw []byte) (object.Object, error) {
	var in struct {
		stored
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return object.Object{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	o := object.Object(in.stored)
	o.Body = nil
	if err := kjson.Unmarshal(in.Body, &o.Body); err != nil || o.Body == nil {
		return object.Object{}, fmt.Errorf("%w: an object of the Set: %v", ErrDamaged, err)
	}
	return o.Claimed(), nil
}

// SetDigest is the digest of a Set: of the digests of its objects in their order, with their instances and stages.
func SetDigest(objects []object.Object) string {
	h := sha256.New()
	for _, o := range objects {
		fmt.Fprintf(h, "%s %q %d\n", o.Digest(), o.Instance, o.Stage)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Split cuts encoded data into chunks of at most size bytes; there is at least one.
func Split(data []byte, size int) [][]byte {
	var out [][]byte
	for len(data) > size {
		out, data = append(out, data[:size]), data[size:]
	}
	return append(out, data)
}

// window is how far back the encoder looks for what repeats; it holds twice that in memory.
const window = 1 << 20

var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxStored))
	})
)

// writer makes JSON piece by piece, and zstd of it. The first error stays.
type writer struct {
	text bytes.Buffer
	enc  *json.Encoder
	err  error
}

func newWriter() *writer {
	w := &writer{}
	w.enc = json.NewEncoder(&w.text)
	w.enc.SetEscapeHTML(false)
	return w
}

func (w *writer) raw(s string) *writer {
	w.text.WriteString(s)
	return w
}

func (w *writer) json(v any) *writer {
	if w.err == nil {
		w.err = w.enc.Encode(v)
	}
	return w
}

// packed is what was written, if somebody can read it again.
func (w *writer) packed(limit int) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	z, err := encoder()
	if err != nil {
		return nil, err
	}
	out := z.EncodeAll(w.text.Bytes(), nil)
	if n := w.text.Len(); n > MaxStored || weigh(w.text.Bytes()) > allowed(out, limit) {
		return nil, fmt.Errorf("a record of %d MiB is too large to be kept: part the bundle into several", n>>20)
	}
	return out, nil
}

func unpack(data []byte, limit int) ([]byte, error) {
	z, err := decoder()
	if err != nil {
		return nil, err
	}
	text, err := z.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if weigh(text) > allowed(data, limit) {
		return nil, fmt.Errorf("%w: by itself, or with those beside it, it is larger than what anybody delivers", ErrDamaged)
	}
	return text, nil
}
