package kube

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// partKept holds what was made up for a bundle. It has no owner label: what is collected by that label is written by
// somebody who died, and this is to stay.
const partKept = "kept"

var _ release.Keeper = (*store)(nil)

func keptName(owner string) string { return headName(owner) + "-kept" }

// Kept reads the bundle's Secret of made-up values.
func (s *store) Kept(ctx context.Context, owner string) (release.Kept, release.Handle, error) {
	var secret corev1.Secret
	err := s.c.Get(ctx, secretsPath+"/"+keptName(owner), nil, &secret)
	if apierrors.IsNotFound(err) {
		return nil, "", nil
	}
	var k release.Kept
	if err == nil {
		k, err = release.DecodeKept(secret.Data[keyRecord])
	}
	if err != nil {
		return nil, "", s.wrap("read", "secrets", keptName(owner), err)
	}
	return k, release.Handle(secret.ResourceVersion), nil
}

// Keep writes it by compare-and-swap. After an error that leaves open whether it was written, it looks.
func (s *store) Keep(ctx context.Context, owner string, k release.Kept, h release.Handle) (release.Handle, error) {
	data, err := release.EncodeKept(k)
	if err != nil {
		return "", err
	}
	name := keptName(owner)
	if len(data) > s.chunk {
		return "", s.wrap("write", "secrets", name, fmt.Errorf("the made-up values take %d KiB, at most %d are kept", len(data)>>10, s.chunk>>10))
	}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: object.SystemNamespace, ResourceVersion: string(h),
			Labels: map[string]string{labelRecord: partKept, object.LabelManagedBy: "hawser"}},
		Type: secretType, Data: map[string][]byte{keyRecord: data},
	}
	var answer corev1.Secret
	verb := "write"
	if h == "" {
		verb, err = "create", s.create(ctx, secretsPath, secret, &answer)
	} else {
		err = s.c.Put(ctx, secretsPath+"/"+name, writeQuery(), secret, &answer)
	}
	if err == nil {
		return release.Handle(answer.ResourceVersion), nil
	}
	var there corev1.Secret
	if look := s.c.Get(ctx, secretsPath+"/"+name, nil, &there); look == nil && bytes.Equal(there.Data[keyRecord], data) {
		return release.Handle(there.ResourceVersion), nil
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && h != "" {
		return "", s.wrap("write", "secrets", name, release.ErrConflict)
	}
	return "", s.wrap(verb, "secrets", name, err)
}

// Forget deletes it.
func (s *store) Forget(ctx context.Context, owner string) error {
	err := s.c.Delete(ctx, secretsPath+"/"+keptName(owner), &metav1.DeleteOptions{TypeMeta: deleteOptions})
	if err != nil && !apierrors.IsNotFound(err) {
		return s.wrap("delete", "secrets", keptName(owner), err)
	}
	return nil
}
