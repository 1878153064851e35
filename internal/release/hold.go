package release

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hawser.dev/hawser/internal/decision"
	"hawser.dev/hawser/internal/object"
)

// maxHold bounds the stored form of a Hold.
const maxHold = 64 << 10

// Hold is what keeps a release from one cluster, and what people said about that. A cluster has at most one for each bundle: that of
// the newest release that was kept from it.
type Hold struct {
	V      int    `json:"v"`
	Bundle string `json:"bundle"`
	// Owner is the owner id of the bundle that it is kept for; "" in holds of before there was this.
	Owner string `json:"owner,omitempty"`
	// Release, Rollout and Head are those of the release's records; Author, Message and Since tell who made it.
	Release      int       `json:"release"`
	Rollout      string    `json:"rollout"`
	SourceDigest string    `json:"head"`
	Author       string    `json:"author,omitempty"`
	Message      string    `json:"message,omitempty"`
	Since        time.Time `json:"since,omitzero"`
	// Wave is the one that waits for an approval, as people call it; "" where none does.
	Wave string `json:"wave,omitempty"`
	// Closed is the wave whose window was closed when the release came to it, as people call it, and Opens when that opens.
	Closed string     `json:"closed,omitempty"`
	Opens  *time.Time `json:"opens,omitempty"`
	// RollbackTo is the release that was gone back to, nil for what was applied from files.
	RollbackTo *Name `json:"rollbackTo,omitempty"`
	// Approved lets the release come to the cluster; Paused keeps it from there until that is taken back, Aborted for ever.
	Approved *Word `json:"approved,omitempty"`
	Paused   *Word `json:"paused,omitempty"`
	Aborted  *Word `json:"aborted,omitempty"`
	// Told are the newest decisions, about this release and those before it. They keep nothing back; earlier versions drop them.
	Told []decision.Told `json:"told,omitempty"`
}

// Word is what somebody said about a release, Approval that of one wave, as records keep it.
type (
	Word     = decision.Word
	Approval = decision.Approval
)

// title is the release of the hold, of which nothing is decided yet.
func (h *Hold) title() decision.Told {
	return decision.Told{Release: h.Release, Rollout: h.Rollout, Author: h.Author, Message: h.Message, Since: h.Since}
}

// Decisions are all that the hold knows of, those that earlier versions did not note besides too. A nil hold has none.
func (h *Hold) Decisions() []decision.Told {
	if h == nil {
		return nil
	}
	return decision.With(h.Told, h.title(), h.Wave, map[string]*Word{decision.Approved: h.Approved, decision.Paused: h.Paused, decision.Aborted: h.Aborted})
}

// GaveUp is the word that gave a release up, with the name of that, also where the hold is another one's by now; nil where it knows of none.
func (h *Hold) GaveUp(rollout string) (*Name, *Word) {
	number, word := decision.AbortOf(h.Decisions(), rollout)
	return &Name{Release: number, Rollout: rollout}, word
}

// Holder is what a Store can do besides that keeps holds.
type Holder interface {
	// Held returns the hold of a bundle (by owner id) and its handle; nil, "", nil where there is none.
	Held(ctx context.Context, owner string) (*Hold, RecordVersion, error)
	// PutHold replaces the version named by the handle, "" for none, else ErrConflict. It is whole or it is not.
	PutHold(ctx context.Context, owner string, h Hold, at RecordVersion) (RecordVersion, error)
}

// HeldOn is Held of a store that keeps holds; others have none.
func HeldOn(ctx context.Context, s Store, owner string) (*Hold, RecordVersion, error) {
	keeper, ok := s.(Holder)
	if !ok {
		return nil, "", nil
	}
	return keeper.Held(ctx, owner)
}

// holdTries bounds how often a hold is written against others that write it at this moment.
const holdTries = 3

// PutHoldOn writes what next makes of the hold that a store has of a bundle, asking it anew where somebody else was faster. It writes nothing
// where next gives nil or an error, which is returned.
func PutHoldOn(ctx context.Context, s Store, owner string, next func(*Hold) (*Hold, error)) error {
	keeper, ok := s.(Holder)
	if !ok {
		return errors.New("the store of records keeps no releases back")
	}
	for try := 1; ; try++ {
		h, at, err := keeper.Held(ctx, owner)
		if err != nil {
			return err
		}
		to, err := next(h)
		if err != nil || to == nil {
			return err
		}
		if _, err = keeper.PutHold(ctx, owner, *to, at); !errors.Is(err, ErrConflict) || try == holdTries {
			return err
		}
	}
}

// EncodeHold is the stored form of an owner's hold: zstd of JSON. Where it is too large the oldest decisions go.
func EncodeHold(h Hold, owner string) ([]byte, error) {
	h.V, h.Owner = V, owner
	return decision.Fit(&h.Told, func() ([]byte, error) { return newWriter().json(h).packed(maxHold) })
}

// DecodeHold reads the stored form of an owner's hold; one of another bundle is damaged. The error is a *NewerError when its schema is
// newer than V.
func DecodeHold(data []byte, owner string) (*Hold, error) {
	text, err := unpack(data, maxHold)
	if err != nil {
		return nil, err
	}
	var h Hold
	switch err := json.Unmarshal(text, &h); {
	case err != nil:
		return nil, fmt.Errorf("%w: it is no JSON of ours", ErrDamaged)
	case h.V > V:
		return nil, &NewerError{V: h.V}
	case h.V < 1 || h.Rollout == "" || h.Release < 0 || h.Release > MaxNumber:
		return nil, fmt.Errorf("%w: it names no release", ErrDamaged)
	case cmp.Or(h.Owner, object.OwnerID("", "", h.Bundle)) != owner:
		return nil, fmt.Errorf("%w: it is about the bundle %q (owner %s)", ErrDamaged, h.Bundle, cmp.Or(h.Owner, "not known"))
	}
	h.Told = decision.Sound(h.Told, MaxNumber)
	return &h, nil
}
