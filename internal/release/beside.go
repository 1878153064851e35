package release

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Beside reads what is kept for the other bundles of the same files, as far as it matters to a bundle, and for those that
// were removed from the files: of these what has objects where the bundle (spec) has its instances. The others go on elsewhere.
// counts tells of a record whether it is of another bundle of the files (named: they hold one of that name, which may be somebody
// else's) or of one that was removed from them.
func Beside(ctx context.Context, store Store, scope object.Scoping, own chance.Own, spec v1alpha1.BundleSpec, others []v1alpha1.BundleSpec, counts func(rec Record, named bool) bool) ([]chance.Beside, error) {
	keeper, ok := store.(Keeper)
	if !ok || len(others) == 0 && !own.New() {
		return nil, nil
	}
	owners := map[string]bool{}
	for _, o := range others {
		owners[scope.Owner(o.Name)] = true
	}
	var records []Record
	away := map[string][]string{} // by owner
	err := store.Bundles(ctx, func(r Record) error {
		if r.Owner != own.Owner && counts(r, owners[r.Owner]) {
			away[r.Owner] = elsewhere(r, spec)
			r.Inventory = nil // nothing else of it matters here, and it is the most of a record
			records = append(records, r)
		}
		return nil
	})
	switch {
	case err != nil && own.New() && errors.Is(err, ErrDamaged):
		return nil, diag.Findings{chance.Unknown(err.Error())}.Err()
	case err != nil && own.New():
		return nil, err
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(strings.Compare(a.Bundle, b.Bundle), strings.Compare(a.Owner, b.Owner))
	})
	var out []chance.Beside
	add := func(b chance.Beside, rec *Record) error {
		var err error
		if b.Delivered = rec.Delivered; rec != nil && own.Asks(rec.Made, b.Declares) {
			b.Kept, _, err = keeper.Kept(ctx, b.Owner)
		}
		out = append(out, b)
		if own.New() {
			return err
		}
		return nil // what the bundle has stays as it is kept; objects tell where that is wrong
	}
	named := map[string]bool{own.Owner: true}
	for _, o := range others {
		b := chance.Beside{Owner: scope.Owner(o.Name), Declares: declaring(o)}
		named[b.Owner] = true
		var rec *Record
		if i := slices.IndexFunc(records, func(r Record) bool { return r.Owner == b.Owner }); i >= 0 {
			rec = &records[i]
		}
		if err := add(b, rec); err != nil {
			return nil, err
		}
	}
	for i, rec := range records {
		if named[rec.Owner] {
			continue
		}
		if err := add(chance.Beside{Owner: rec.Owner, Declares: declaring(v1alpha1.BundleSpec{}), Removed: true}, &records[i]); err != nil {
			return nil, err
		}
		kept := maps.Clone(out[len(out)-1].Kept)
		maps.DeleteFunc(kept, func(name string, _ chance.Answers) bool { return slices.Contains(away[rec.Owner], name) })
		out[len(out)-1].Kept = kept
	}
	return out, nil
}

// elsewhere are the instances of a bundle of which a record has objects of that name, and none in the namespace in which the
// bundle declares it. What is in no namespace, or not known, tells nothing.
func elsewhere(rec Record, spec v1alpha1.BundleSpec) []string {
	var out []string
	for _, in := range spec.Instances {
		away, here := false, in.Namespace == ""
		for _, o := range rec.Inventory {
			if o.Instance == in.Name && o.Ref.Namespace != "" {
				away, here = true, here || o.Ref.Namespace == in.Namespace
			}
		}
		if away && !here {
			out = append(out, in.Name)
		}
	}
	return out
}

// declaring reports whether a bundle declares an instance.
func declaring(spec v1alpha1.BundleSpec) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(spec.Instances, func(in v1alpha1.Instance) bool { return in.Name == name })
	}
}

// Bequeath forgets what is kept for a bundle that is deleted, when the other bundles of the same files that declare its
// instances keep what they did not take yet; counts is as for Beside.
func Bequeath(ctx context.Context, store Store, scope object.Scoping, rec Record, others []v1alpha1.BundleSpec, counts func(rec Record, named bool) bool) error {
	keeper, ok := store.(Keeper)
	if !ok || len(rec.Made) == 0 {
		return nil
	}
	from := chance.Beside{Owner: rec.Owner, Delivered: rec.Delivered, Declares: declaring(v1alpha1.BundleSpec{})}
	if len(others) > 0 {
		var err error
		if from.Kept, _, err = keeper.Kept(ctx, rec.Owner); err != nil {
			return err
		}
	}
	for _, o := range others {
		to := chance.Own{Owner: scope.Owner(o.Name)}
		for _, in := range o.Instances {
			if !from.Kept[in.Name].IsZero() {
				to.Declared = append(to.Declared, in.Name)
			}
		}
		if len(to.Declared) == 0 {
			continue
		}
		heir, _, err := store.Current(ctx, to.Owner)
		if err != nil {
			return err
		}
		if heir != nil && !counts(*heir, true) {
			continue
		}
		kept, handle, err := keeper.Kept(ctx, to.Owner)
		if err != nil {
			return err
		}
		to.Kept, to.Delivered = kept, heir.Delivered
		if next := chance.HandOver(to, from); !chance.Same(next, kept) {
			if _, err := keeper.Keep(ctx, to.Owner, next, handle); err != nil {
				return err
			}
		}
	}
	return keeper.Forget(ctx, rec.Owner)
}
