package release

import (
	"context"
	"encoding/json"
	"fmt"

	"hawser.dev/hawser/internal/chance"
)

// Kept are the values that were made up for a bundle on one cluster, by instance.
type Kept map[string]chance.Answers

// Keeper is what a Store that keeps made-up values can do besides. There is one Kept per bundle; records say by digest
// what it held.
type Keeper interface {
	// Kept returns what is kept for a bundle (by owner id) and its handle; nil, "", nil when nothing is.
	Kept(ctx context.Context, owner string) (Kept, RecordVersion, error)
	// Keep replaces the version named by the handle, else ErrConflict. It is whole or it is not.
	Keep(ctx context.Context, owner string, k Kept, h RecordVersion) (RecordVersion, error)
	// Forget removes what is kept for a bundle; nothing kept is no error.
	Forget(ctx context.Context, owner string) error
}

// Digests are those of what is kept for each instance; nil when nothing is.
func (k Kept) Digests() map[string]string {
	var out map[string]string
	for name, a := range k {
		if d := a.Digest(); d != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = d
		}
	}
	return out
}

// Marks are those of what is kept for each instance.
func (k Kept) Marks() map[string][]chance.Mark {
	out := map[string][]chance.Mark{}
	for name, a := range k {
		if !a.IsZero() {
			out[name] = a.Marks()
		}
	}
	return out
}

// EncodeKept is the stored form: zstd of JSON.
func EncodeKept(k Kept) ([]byte, error) {
	return newWriter().json(struct {
		V    int  `json:"v"`
		Kept Kept `json:"kept"`
	}{V, k}).packed(maxRecord)
}

// DecodeKept reads the stored form. The error is a *NewerError when its schema is newer than V.
func DecodeKept(data []byte) (Kept, error) {
	text, err := unpack(data, maxRecord)
	if err != nil {
		return nil, err
	}
	var in struct {
		V    int  `json:"v"`
		Kept Kept `json:"kept"`
	}
	switch err := json.Unmarshal(text, &in); {
	case err != nil: // its text may quote a value
		return nil, fmt.Errorf("%w: it is no JSON of ours", ErrDamaged)
	case in.V > V:
		return nil, &NewerError{V: in.V}
	case in.V < 1:
		return nil, fmt.Errorf("%w: no schema version", ErrDamaged)
	}
	return in.Kept, nil
}
