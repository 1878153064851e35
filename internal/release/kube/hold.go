package kube

import (
	"bytes"
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// partHold is what keeps a release of the bundle from the cluster. It has no owner label, so that no writer of records collects it.
const partHold = "hold"

var _ release.Holder = (*Store)(nil)

const holdSuffix = "-hold"

func holdName(owner string) string { return headName(owner) + holdSuffix }

// Held reads the bundle's Secret of what keeps a release back.
func (s *Store) Held(ctx context.Context, owner string) (*release.Hold, release.RecordVersion, error) {
	data, at, err := s.apart(ctx, holdName(owner))
	if at == "" || err != nil {
		return nil, "", err
	}
	h, err := release.DecodeHold(data, owner)
	if err != nil {
		return nil, "", diag.Findings{release.DamagedHold(holdName(owner), err)}.Err()
	}
	return h, at, nil
}

// Holds lists the Secrets of what keeps releases back, without those that cannot be read.
func (s *Store) Holds(ctx context.Context, each func(owner string, h release.Hold)) error {
	return s.pages(ctx, labelRecord+"="+partHold, func(secrets []corev1.Secret) (more bool) {
		for i := range secrets {
			owner := strings.TrimSuffix(strings.TrimPrefix(secrets[i].Name, headName("")), holdSuffix)
			if h, err := release.DecodeHold(secrets[i].Data[keyRecord], owner); err == nil {
				each(owner, *h)
			}
		}
		return true
	})
}

// PutHold writes it by compare-and-swap. After an error that leaves open whether it was written, it looks.
func (s *Store) PutHold(ctx context.Context, owner string, h release.Hold, at release.RecordVersion) (release.RecordVersion, error) {
	data, err := release.EncodeHold(h, owner)
	if err != nil {
		return "", err
	}
	return s.putApart(ctx, holdName(owner), partHold, data, at)
}

// apart reads a Secret of a bundle that no record names; "" is the handle of none.
func (s *Store) apart(ctx context.Context, name string) ([]byte, release.RecordVersion, error) {
	var secret corev1.Secret
	err := s.c.Get(ctx, secretsPath+"/"+name, nil, &secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, "", nil
	case err != nil:
		return nil, "", s.wrap("read", "secrets", name, err)
	}
	return secret.Data[keyRecord], release.RecordVersion(secret.ResourceVersion), nil
}

// putApart replaces the version of such a Secret that the handle names.
func (s *Store) putApart(ctx context.Context, name, part string, data []byte, h release.RecordVersion) (release.RecordVersion, error) {
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: object.SystemNamespace, ResourceVersion: string(h),
			Labels: map[string]string{labelRecord: part, object.LabelManagedBy: "hawser"}},
		Type: secretType, Data: map[string][]byte{keyRecord: data},
	}
	var answer corev1.Secret
	verb := "write"
	var err error
	if h == "" {
		verb, err = "create", s.create(ctx, secretsPath, secret, &answer)
	} else {
		err = s.c.Put(ctx, secretsPath+"/"+name, writeQuery(), secret, &answer)
	}
	if err == nil {
		return release.RecordVersion(answer.ResourceVersion), nil
	}
	if there, at, look := s.apart(ctx, name); look == nil && at != "" && bytes.Equal(there, data) {
		return at, nil
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && h != "" {
		return "", s.wrap("write", "secrets", name, release.ErrConflict)
	}
	return "", s.wrap(verb, "secrets", name, err)
}

// dropApart deletes such a Secret; one that is gone is fine.
func (s *Store) dropApart(ctx context.Context, name string) error {
	err := s.c.Delete(ctx, secretsPath+"/"+name, &metav1.DeleteOptions{TypeMeta: deleteOptions})
	if err != nil && !apierrors.IsNotFound(err) {
		return s.wrap("delete", "secrets", name, err)
	}
	return nil
}
