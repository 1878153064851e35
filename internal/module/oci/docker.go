package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/terminal"
)

const (
	// helperTime is how long a credential helper may take: it may ask its user something.
	helperTime = time.Minute
	// maxHelper bounds what it may say.
	maxHelper = 1 << 20
)

// dockerStore keeps credentials as Docker does: with the helpers that its configuration names or the system has, else in
// the configuration itself. The library does the latter; helpers are run by us, as it cannot end one that hangs.
type dockerStore struct {
	credentials.Store
	helpers map[string]string // by registry
	other   string            // for all others, "" when there is none
	limit   time.Duration
}

// dockerConfig is what of Docker's configuration says which helper is asked.
type dockerConfig struct {
	Auths       map[string]json.RawMessage `json:"auths"`
	CredsStore  string                     `json:"credsStore"`
	CredHelpers map[string]string          `json:"credHelpers"`
}

// openDocker reads Docker's configuration; one that is not there is an empty one.
func openDocker(limit time.Duration) (*dockerStore, error) {
	dir := os.Getenv("DOCKER_CONFIG")
	if err := misplaced.File("DOCKER_CONFIG", "Docker's configuration", dir); err != nil {
		return nil, fmt.Errorf("%w (it is the directory with config.json)", err)
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(home, ".docker")
	}
	file := filepath.Join(dir, "config.json")
	var conf dockerConfig
	data, err := rootfs.ReadFile(file, rootfs.MaxSmall)
	switch {
	case err == nil:
		err = json.Unmarshal(data, &conf)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	own, err := credentials.NewStore(file, credentials.StoreOptions{AllowPlaintextPut: true})
	if err != nil {
		return nil, err
	}
	s := &dockerStore{Store: own, helpers: conf.CredHelpers, other: conf.CredsStore, limit: limit}
	if conf.CredsStore == "" && len(conf.CredHelpers) == 0 && len(conf.Auths) == 0 {
		s.other = systemHelper()
	}
	return s, nil
}

// systemHelper is the helper of the system that Docker takes when nothing is configured, "" when it is not installed.
func systemHelper() string {
	name := map[string]string{"darwin": "osxkeychain", "windows": "wincred", "linux": "secretservice"}[runtime.GOOS]
	if _, err := exec.LookPath("pass"); err == nil && runtime.GOOS == "linux" {
		name = "pass"
	}
	if _, err := exec.LookPath(helperPrefix + name); name == "" || err != nil {
		return ""
	}
	return name
}

const helperPrefix = "docker-credential-"

// helper is the program that is asked about a registry, "" for none.
func (s *dockerStore) helper(registry string) string {
	if name := s.helpers[registry]; name != "" {
		return helperPrefix + name
	}
	if s.other != "" {
		return helperPrefix + s.other
	}
	return ""
}

// entry is the form in which helpers take and give credentials.
type entry struct{ ServerURL, Username, Secret string }

// identityToken stands for a user name where the secret is a token.
const identityToken = "<token>"

// Get asks for what is known of a registry; nothing is no error.
func (s *dockerStore) Get(ctx context.Context, registry string) (auth.Credential, error) {
	program := s.helper(registry)
	if program == "" {
		return s.Store.Get(ctx, registry)
	}
	out, err := s.run(ctx, program, "get", []byte(registry))
	if err != nil {
		if err.Error() == "credentials not found in native keychain" {
			return auth.EmptyCredential, nil
		}
		return auth.EmptyCredential, err
	}
	var e entry
	if json.Unmarshal(out, &e) != nil {
		return auth.EmptyCredential, errors.New(program + " gave no credentials but something else")
	}
	if e.Username == identityToken {
		return auth.Credential{RefreshToken: e.Secret}, nil
	}
	return auth.Credential{Username: e.Username, Password: e.Secret}, nil
}

// Put keeps credentials for a registry.
func (s *dockerStore) Put(ctx context.Context, registry string, c auth.Credential) error {
	program := s.helper(registry)
	if program == "" {
		return s.Store.Put(ctx, registry, c)
	}
	e := entry{ServerURL: registry, Username: c.Username, Secret: c.Password}
	if c.RefreshToken != "" {
		e.Username, e.Secret = identityToken, c.RefreshToken
	}
	data, err := json.Marshal(e)
	if err == nil {
		_, err = s.run(ctx, program, "store", data)
	}
	return err
}

// Delete forgets those of a registry.
func (s *dockerStore) Delete(ctx context.Context, registry string) error {
	program := s.helper(registry)
	if program == "" {
		return s.Store.Delete(ctx, registry)
	}
	_, err := s.run(ctx, program, "erase", []byte(registry))
	return err
}

// run runs a helper, which is ended with what it started when it takes too long. The error of one that failed is what it
// said.
func (s *dockerStore) run(ctx context.Context, program, action string, in []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("the credential helper %s gave no answer within %s", program, s.limit))
	defer cancel()
	out := &child.Output{Limit: maxHelper}
	cmd := child.New(ctx, program, action)
	said := &child.Said{To: terminal.Stderr, Limit: maxHelper, Clean: columns.Screen}
	defer said.End()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), out, said
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		if said := strings.TrimSpace(string(out.Bytes())); said != "" {
			return nil, errors.New(said)
		}
	}
	return nil, fmt.Errorf("%s: %w", program, err)
}
