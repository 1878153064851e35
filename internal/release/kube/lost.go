package kube

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

var _ release.Remnants = (*Store)(nil)

// Remnants lists the Secrets of kept revisions, without those of the owners that are known, and looks once more for the head of each
// other owner: it may have been written in between. What a run wrote that never came to its end is none.
func (s *Store) Remnants(ctx context.Context, owner string, known []string) ([]string, error) {
	selector := labelRecord + "=" + partSet
	switch {
	case owner != "":
		selector += "," + object.LabelOwner + "=" + owner
	case len(known) > 0:
		selector += "," + object.LabelOwner + " notin (" + strings.Join(known, ",") + ")"
	}
	secrets, err := s.list(ctx, selector)
	if err != nil {
		return nil, err
	}
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
	return out, nil
}

// remnant reports whether a Secret is of a closed revision of the owner that it says, and tells of which bundle. Whose bundles they are
// (object.Scoping) is nothing that a store knows.
func remnant(secret *corev1.Secret) bool {
	phase := release.Phase(secret.Annotations[annotationPhase])
	return phase.Known() && !phase.Open() && secret.Annotations[annotationBundle] != "" && own(ownerOf(secret), secret.Name)
}
