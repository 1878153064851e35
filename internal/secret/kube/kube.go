// Package kube is the store of secrets that reads Secrets of the very cluster that is delivered to.
//
// kube must not know how a cluster is reached: it is given a narrow function that reads one Secret.
package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"hawser.dev/hawser/internal/secret"
)

// Getter returns the data of a Secret. Its errors name the Secret and what the server says.
type Getter func(ctx context.Context, namespace, name string) (map[string][]byte, error)

// Store reads Secrets of one namespace of one cluster.
type Store struct {
	namespace string
	get       Getter
}

var _ secret.Store = (*Store)(nil)

// New returns the store of the Secrets in a namespace.
func New(namespace string, get Getter) *Store { return &Store{namespace: namespace, get: get} }

// Get returns the key ref.Property of the Secret ref.Path.
func (s *Store) Get(ctx context.Context, ref secret.Ref) (string, error) {
	switch {
	case ref.Version != "":
		return "", errors.New("a Secret has no versions")
	case ref.Property == "":
		return "", fmt.Errorf("the key is missing: %s/KEY", ref)
	case strings.Contains(ref.Path, "/"):
		return "", fmt.Errorf("%q cannot be the name of a Secret: write %sNAME/KEY", ref.Path, secret.Scheme)
	}
	data, err := s.get(ctx, s.namespace, ref.Path)
	if err != nil {
		return "", err
	}
	value, ok := data[ref.Property]
	if !ok {
		keys := slices.Sorted(maps.Keys(data))
		return "", &secret.MissingError{Name: ref.Property, Have: keys,
			Text: fmt.Sprintf("the Secret %s/%s has no key %q%s", s.namespace, ref.Path, ref.Property, secret.Names("; it has the keys", keys))}
	}
	if len(value) == 0 {
		return "", fmt.Errorf("the Secret %s/%s: the key %q is empty", s.namespace, ref.Path, ref.Property)
	}
	if !utf8.Valid(value) {
		return "", fmt.Errorf("the Secret %s/%s: the key %q holds bytes, not text", s.namespace, ref.Path, ref.Property)
	}
	return string(value), nil
}
