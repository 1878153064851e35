package sops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/secret"
)

// system is what the search for keys sees of the process.
type system struct {
	env       func(string) (string, bool)
	configDir func() (string, error)
}

var process = system{env: os.LookupEnv, configDir: os.UserConfigDir}

// keys are the identities, or a *secret.NoKeyError.
func (s *Store) keys() (identity, error) {
	out, err := s.identities()
	if err != nil {
		err = &secret.NoKeyError{Err: err}
	}
	return out, err
}

// identities are the age keys the options name, else those of the places sops looks at. None at all is an error that
// says where keys were looked for; a place that is named and cannot be read is one, too.
func (s *Store) identities() (identity, error) {
	var out identity
	switch {
	case s.options.KeyFile != "":
		return out, out.file(s.options.KeyFile, true)
	case s.options.KeyEnv != "":
		return out, out.variable(s.system, s.options.KeyEnv, true)
	}
	if err := out.variable(s.system, "SOPS_AGE_KEY", false); err != nil {
		return out, err
	}
	if name, ok := s.system.env("SOPS_AGE_KEY_FILE"); ok && name != "" {
		if err := out.file(name, true); err != nil {
			return out, err
		}
	} else {
		out.from = append(out.from, "$SOPS_AGE_KEY_FILE (not set)")
	}
	if dir, err := s.system.configDir(); err == nil {
		if err := out.file(filepath.Join(dir, "sops", "age", "keys.txt"), false); err != nil {
			return out, err
		}
	}
	if len(out.keys) == 0 {
		return out, fmt.Errorf("there is no age key; looked in %s", strings.Join(out.from, ", "))
	}
	return out, nil
}

func (i *identity) variable(s system, name string, needed bool) error {
	text, ok := s.env(name)
	if !ok || text == "" {
		if needed && misplaced.Value(name) {
			return errors.New("keyEnv names a variable that holds the age key, and is no name of one (it may be the key itself, which is not shown): put the key into a variable and name that")
		}
		if needed {
			return fmt.Errorf("the environment variable %s with the age key is not set", name)
		}
		i.from = append(i.from, "$"+name+" (not set)")
		return nil
	}
	// sops takes several keys on a line here.
	return i.parse("$"+name, []byte(strings.Join(strings.Fields(uncommented(text)), "\n")))
}

// uncommented is a text without lines that start with #.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// maxKeys is how many bytes a file of keys may have.
const maxKeys = 1 << 20

func (i *identity) file(name string, needed bool) error {
	if misplaced.Path(name) {
		return errors.New("where the file of age keys is named (keyFile, SOPS_AGE_KEY_FILE), a key itself stands, which is not shown: write it to a file (mode 0600) and name that, " +
			"or put it into SOPS_AGE_KEY or the variable of keyEnv")
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return fmt.Errorf("the file of age keys %s is no regular file", name)
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) && !needed {
		i.from = append(i.from, name+" (not there)")
		return nil
	}
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return fmt.Errorf("the file of age keys %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxKeys+1))
	if err != nil || len(data) > maxKeys {
		return fmt.Errorf("the file of age keys %s cannot be read, or has more than %d bytes", name, maxKeys)
	}
	return i.parse(name, data)
}

// parse adds the keys of one place. What the library says of a bad line may quote it.
func (i *identity) parse(from string, data []byte) error {
	if bytes.HasPrefix(data, []byte("age-encryption.org/")) || bytes.HasPrefix(data, []byte("-----BEGIN AGE ENCRYPTED FILE")) {
		return fmt.Errorf("%s is encrypted itself, by a passphrase: nobody can be asked for it", from)
	}
	keys, err := age.ParseIdentities(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s holds something else than age keys (AGE-SECRET-KEY-...), one a line", from)
	}
	i.keys = append(i.keys, keys...)
	i.from = append(i.from, from)
	return nil
}
