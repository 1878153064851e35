// Package sops is the store of secrets that reads files encrypted by SOPS with age keys: YAML, JSON, dotenv and binary.
// The format is that of https://getsops.io; the data key is unlocked by filippo.io/age. Nothing is ever written, no
// decrypted text leaves memory.
//
// sops must not say what a file holds in an error, nor reach for a key service.
package sops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"hawser.dev/hawser/internal/secret"
)

// Options say where files and keys are.
type Options struct {
	// Dir holds the encrypted files.
	Dir string
	// KeyFile is a file of age identities; KeyEnv an environment variable with such a file's content. Without either, those
	// are taken that sops itself takes: $SOPS_AGE_KEY, the file $SOPS_AGE_KEY_FILE, sops/age/keys.txt in the user's
	// configuration directory; all that are there.
	KeyFile, KeyEnv string
}

// Store reads encrypted files below a directory.
type Store struct {
	options Options
	system  system
}

var _ secret.Store = (*Store)(nil)

// New returns the store. Keys and files are read at every Get.
func New(o Options) *Store { return &Store{options: o, system: process} }

// Get returns a property of the decrypted file ref.Path, or without one the content of a file encrypted as binary.
func (s *Store) Get(_ context.Context, ref secret.Ref) (string, error) {
	if ref.Version != "" {
		return "", errors.New("files have no versions")
	}
	name, property, data, err := secret.ReadEntry(s.options.Dir, ref)
	if err != nil {
		return "", err
	}
	value, err := s.value(name, property, data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

func (s *Store) value(name, property string, data []byte) (string, error) {
	doc, form, err := parse(name, data)
	if err != nil {
		return "", unreadable(name, err)
	}
	keys, err := s.keys()
	if err != nil {
		return "", err
	}
	if err := decrypt(doc, keys); err != nil {
		return "", unreadable(name, err)
	}
	if property != "" {
		return doc.tree.Lookup(property)
	}
	if form != binary {
		return "", fmt.Errorf("the reference names no property%s", doc.tree.Keys("; it has the keys"))
	}
	return doc.tree.Lookup("data")
}

// unreadable is the error of a file that cannot be opened, with what there is to do about it or its key.
func unreadable(name string, err error) error {
	fix := "restore " + name + " as SOPS wrote it, from a copy or an older commit, and change it with sops alone (sops edit " + name + ")"
	switch {
	case errors.Is(err, errNoKey):
		fix = "give the store a key of one of these recipients (age, in secretStores), or let who has one add yours: sops rotate -i --add-age RECIPIENT " + name
	case isUnsupported(err):
		fix = "encrypt it for an age recipient, in a form that is read: YAML, JSON, dotenv or binary"
	case errors.Is(err, errNotEncrypted):
		fix = "encrypt it (sops encrypt -i " + name + "), or read it by a store of the kind file"
	}
	return &secret.UnreadableError{Err: err, Fix: fix}
}

// unsupported is the error of a file of SOPS that is whole, and of a kind that is not read.
type unsupported string

func (e unsupported) Error() string { return string(e) }

func isUnsupported(err error) bool {
	_, ok := errors.AsType[unsupported](err)
	return ok
}

// form is how a file is written.
type form int

const (
	yamlForm form = iota
	jsonForm
	dotenv
	// binary is JSON whose one field is called data.
	binary
)

// document is an encrypted file: its tree without SOPS's own part, and that.
type document struct {
	tree *secret.Node
	meta metadata
}

// parse reads a file as sops itself does: by the ending of its name.
func parse(name string, data []byte) (*document, form, error) {
	var tree *secret.Node
	var err error
	as := yamlForm
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".ini":
		return nil, as, unsupported("SOPS files in INI form are not read; YAML, JSON, dotenv and binary ones are")
	case ext == ".env":
		as = dotenv
		return parseDotenv(data)
	case ext == ".json":
		as = jsonForm
		tree, err = secret.ParseJSON(data)
	case ext == ".yaml" || ext == ".yml" || !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		tree, err = secret.ParseYAML(data)
	default:
		as = binary
		tree, err = secret.ParseJSON(data)
	}
	if err != nil {
		return nil, as, err
	}
	own, err := tree.Field("sops")
	if err != nil {
		return nil, as, err
	}
	if own == nil || own.Kind != secret.Map {
		return nil, as, errNotEncrypted
	}
	rest := &secret.Node{Kind: secret.Map}
	for _, f := range tree.Fields {
		if f.Key != "sops" {
			rest.Fields = append(rest.Fields, f)
		}
	}
	meta, err := readMetadata(own)
	return &document{tree: rest, meta: meta}, as, err
}

var errNotEncrypted = errors.New("it is not encrypted by SOPS: it has no sops metadata")

// parseDotenv reads NAME=VALUE lines; SOPS's own part are the names that start with sops_.
func parseDotenv(data []byte) (*document, form, error) {
	tree, own := &secret.Node{Kind: secret.Map}, map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		name, text, ok := strings.Cut(line, "=")
		if !ok {
			return nil, dotenv, fmt.Errorf("line %d is no NAME=VALUE", i+1)
		}
		text = strings.ReplaceAll(text, `\n`, "\n")
		if rest, ok := strings.CutPrefix(name, "sops_"); ok {
			own[rest] = text
			continue
		}
		tree.Fields = append(tree.Fields, secret.Field{Key: name, Value: &secret.Node{Kind: secret.Scalar, Text: text, Value: text}})
	}
	if len(own) == 0 {
		return nil, dotenv, errNotEncrypted
	}
	meta, err := readMetadata(unflatten(own))
	return &document{tree: tree, meta: meta}, dotenv, err
}

// identity is where age keys came from, for errors.
type identity struct {
	keys []age.Identity
	// from says where keys were looked for.
	from []string
}
