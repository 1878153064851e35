// Package file is the store of secrets that reads files below one directory.
//
// file must not leave its directory, neither by .. nor by a link, nor say what a file holds.
package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hawser.dev/hawser/internal/secret"
)

// Store reads files below a directory.
type Store struct{ dir string }

var _ secret.Store = (*Store)(nil)

// New returns the store of a directory; it is opened at every Get.
func New(dir string) *Store { return &Store{dir: dir} }

// Get returns the text of the file ref.Path, or with a property that field of the YAML or JSON (.json) file. When ref.Path
// is a directory, the property names a file in it: ref://certs/tls.key is the text of certs/tls.key. The newline that
// ends a file of a single line is no part of the text; in files of several lines every byte counts. What SOPS encrypted is an error: nothing
// decrypts it here. So is a text that is empty.
func (s *Store) Get(_ context.Context, ref secret.Ref) (string, error) {
	if ref.Version != "" {
		return "", errors.New("files have no versions")
	}
	name, property, data, err := secret.ReadEntry(s.dir, ref)
	if err != nil {
		return "", err
	}
	if property == "" {
		if !utf8.Valid(data) {
			return "", fmt.Errorf("%s holds bytes, not text", name)
		}
		if strings.Contains(string(data), secret.Sealed) {
			return "", sealed(name)
		}
		text := trimLine(string(data))
		if text == "" {
			return "", fmt.Errorf("the file %s is empty", name)
		}
		return text, nil
	}
	parse, lookup := secret.ParseYAML, (*secret.Node).LookupIn
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		parse, lookup = secret.ParseJSON, (*secret.Node).Lookup
	case ".yaml", ".yml":
		lookup = (*secret.Node).Lookup
	}
	doc, err := parse(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	value, err := lookup(doc, property)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if strings.HasPrefix(value, secret.Sealed) {
		return "", sealed(name)
	}
	return value, nil
}

func sealed(name string) error {
	return fmt.Errorf("%s is encrypted by SOPS, and a store of files decrypts nothing: declare a store {sops: {path: ...}} of the same directory, and name that one", name)
}

// trimLine removes the newline of a text of one line.
func trimLine(text string) string {
	line, ok := strings.CutSuffix(text, "\n")
	line = strings.TrimSuffix(line, "\r")
	if !ok || strings.ContainsAny(line, "\r\n") {
		return text
	}
	return line
}
