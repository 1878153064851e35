package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

var _ release.Remnants = (*Store)(nil)

// Remnants lists the Secrets of kept revisions, and with "" those that say where records are, without those of the owners that are known.
func (s *Store) Remnants(ctx context.Context, owner string, known []string) (left release.Left, err error) {
	selector := labelRecord + " in (" + partSet + "," + partElsewhere + ")"
	switch {
	case owner != "":
		selector = labelRecord + "=" + partSet + "," + object.LabelOwner + "=" + owner
	case len(known) > 0:
		selector += "," + object.LabelOwner + " notin (" + strings.Join(known, ",") + ")"
	}
	secrets, err := s.list(ctx, selector)
	if err != nil {
		return left, err
	}
	var failed []error
	secrets = slices.DeleteFunc(secrets, func(secret corev1.Secret) bool {
		if secret.Labels[labelRecord] != partElsewhere {
			return false
		}
		if of := strings.TrimPrefix(secret.Name, headName("")); !slices.Contains(known, of) {
			h, err := parseHead(&secret)
			if err == nil && h.index.Elsewhere == nil {
				err = fmt.Errorf("%w: it does not say where the records are", release.ErrDamaged)
			}
			if err != nil {
				failed = append(failed, s.wrap("read", "secrets", secret.Name, err))
				return true
			}
			p := pointerOf(&secret, h)
			p.Owner = of
			left.Away = append(left.Away, *p)
		}
		return true
	})
	slices.SortFunc(left.Away, func(a, b release.Pointer) int {
		return cmp.Or(strings.Compare(a.Bundle, b.Bundle), strings.Compare(a.Owner, b.Owner))
	})
	left.Lost = s.lost(ctx, secrets, known)
	return left, errors.Join(failed...)
}

// lost are the bundles of the Secrets of kept revisions. It looks once more for the head of each owner: it may have been written in between.
// What a run wrote that never came to its end is none.
func (s *Store) lost(ctx context.Context, secrets []corev1.Secret, known []string) []string {
	var out, asked []string
	for i := range secrets {
		of, bundle := ownerOf(&secrets[i]), secrets[i].Annotations[annotationBundle]
		if slices.Contains(asked, of) || slices.Contains(known, of) || !remnant(&secrets[i]) {
			continue
		}
		asked = append(asked, of)
		if h, _, err := s.current(ctx, of); err == nil && h == nil {
			out = append(out, bundle)
		}
	}
	slices.Sort(out)
	return out
}

// remnant reports whether a Secret is of a closed revision of the owner that it says, and tells of which bundle. Whose bundles they are
// (object.Scoping) is nothing that a store knows.
func remnant(secret *corev1.Secret) bool {
	phase := release.Phase(secret.Annotations[annotationPhase])
	return phase.Known() && !phase.Open() && secret.Annotations[annotationBundle] != "" && own(ownerOf(secret), secret.Name)
}
