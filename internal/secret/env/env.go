// Package env is the store of secrets that reads environment variables of the process.
//
// env must not know who asks, nor say what a variable holds.
package env

import (
	"context"
	"fmt"
	"os"
	"strings"

	"hawser.dev/hawser/internal/secret"
)

// Store reads variables whose names start with Prefix.
type Store struct {
	prefix string
	lookup func(string) (string, bool)
}

var _ secret.Store = (*Store)(nil)

// New returns the store of the process's environment; prefix is put before every name.
func New(prefix string) *Store { return &Store{prefix: prefix, lookup: os.LookupEnv} }

// Get returns a variable, or with a property that field of the JSON or YAML document it holds. A variable that is not set,
// or empty, is an error: a shell makes such a one of every misspelled name.
func (s *Store) Get(_ context.Context, ref secret.Ref) (string, error) {
	if ref.Version != "" {
		return "", fmt.Errorf("environment variables have no versions")
	}
	if strings.ContainsAny(ref.Path, "/=") {
		return "", fmt.Errorf("%q cannot be the name of an environment variable", ref.Path)
	}
	name := s.prefix + ref.Path
	text, ok := s.lookup(name)
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	if text == "" {
		return "", fmt.Errorf("the environment variable %s is empty", name)
	}
	if ref.Property == "" {
		return text, nil
	}
	parse, lookup := secret.ParseYAML, (*secret.Node).LookupIn
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		parse, lookup = secret.ParseJSON, (*secret.Node).Lookup
	}
	doc, err := parse([]byte(text))
	if err != nil && strings.HasPrefix(strings.TrimSpace(text), "{") {
		doc, err = secret.ParseYAML([]byte(text)) // a flow mapping
	}
	if err != nil {
		return "", fmt.Errorf("the environment variable %s: %w", name, err)
	}
	value, err := lookup(doc, ref.Property)
	if err != nil {
		return "", fmt.Errorf("the environment variable %s: %w", name, err)
	}
	return value, nil
}
