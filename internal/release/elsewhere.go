package release

import (
	"cmp"
	"errors"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Place is where records are kept. The zero Place are the Secrets of the cluster that they are about.
type Place struct {
	// ID is the store's own, made at random when it was first written: a directory of the same name on another machine is another
	// store. Name is what people call it, without credentials: "the directory /srv/releases".
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Fleet is that whose file names the store; "" where nobody noted it.
	Fleet string `json:"fleet,omitempty"`
}

// String is the place for people.
func (p Place) String() string {
	return cmp.Or(p.Name, "the cluster's Secrets in "+object.SystemNamespace)
}

// Is reports whether both are the same place, whatever it is called.
func (p Place) Is(other Place) bool {
	return p.ID == other.ID && (p.ID != "" || p.Name == other.Name) // a store that was never written has no id
}

// Pointer is what a cluster says of where the records of a bundle are.
type Pointer struct {
	// At is the place; the zero Place where the cluster keeps them itself.
	At Place
	// Bundle is the bundle's name, "" where it is not known; Owner its owner's id.
	Bundle, Owner string
	// Moving: they are being moved there.
	Moving bool
}

// ErrElsewhere is returned (wrapped) when a bundle's records are kept in another place than the store's.
var ErrElsewhere = errors.New("the records of the bundle are kept elsewhere")

// Elsewhere is the error of a store whose place is here about a bundle of which its cluster says that the records are at another one, or
// being moved; more are further bundles at that place.
func Elsewhere(p Pointer, here Place, more ...string) error {
	bundle, of, from, found := cmp.Or(p.Bundle, "BUNDLE"), "bundle ", "cluster", "this run keeps them in "+here.String()
	if of += bundle; len(more) > 0 {
		bundle, of = "BUNDLE", "bundles "+diag.Few(append([]string{bundle}, more...))
	}
	if p.At.String() == here.String() {
		found = "what this run finds there is another store, or an empty one"
	}
	f := diag.Errorf("records-elsewhere", "the records of %s are kept in %s, and %s", of, p.At, found)
	f.Because("where records are kept is said by releases.store of the fleet's file")
	if p.At.ID != "" {
		from = "FLEETFILE, one that names that store,"
	}
	f.Fix = "let the fleet say where they are; or move them: hawser release move " + bundle + " --from " + from + " with the fleet's file as it is now"
	if p.Moving {
		f.What = "the records of bundle " + bundle + " are being moved to " + p.At.String() + ": a move has begun that has not ended"
		f.Why, f.Fix = "", "run that hawser release move once more"
	}
	return &elsewhereError{&diag.FindingsError{Findings: diag.Findings{f}}}
}

// elsewhereError is a finding, and ErrElsewhere.
type elsewhereError struct{ found *diag.FindingsError }

// Error is the finding's text.
func (e *elsewhereError) Error() string { return e.found.Error() }

// Unwrap returns both.
func (e *elsewhereError) Unwrap() []error { return []error{e.found, ErrElsewhere} }
