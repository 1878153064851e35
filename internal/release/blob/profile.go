package blob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/terminal"
)

// Bounds of a credential_process, which AWS's own tools give a minute too: how long it may take, what it may print, and how much of what
// it says to people is passed on.
const (
	processTime   = time.Minute
	maxProcess    = 1 << 20
	maxProcessSay = 64 << 10
	maxProfiles   = 4 << 20
)

// profile are the keys of a profile of AWS's shared files. What the library reads, it reads; a program that a profile names is run here: in
// bounds, and ended with everything it started when nobody wants it any more, when its time is over and when this process ends.
type profile struct {
	credentials.FileAWSCredentials
	// clean makes what the program says harmless; limit is for how long it may run.
	clean func(string) string
	limit time.Duration

	mu      sync.Mutex
	run     *processRun
	ours    bool // the keys are a program's
	expires time.Time
}

// processRun is a program at work: several tries of a request may wait for it, one after the other.
type processRun struct {
	cancel context.CancelFunc
	done   chan struct{}
	got    credentials.Value
	err    error
}

func newProfile(name string, redact func(string) string) *profile {
	clean := columns.Screen
	if redact != nil {
		clean = func(line string) string { return columns.Screen(redact(line)) }
	}
	return &profile{FileAWSCredentials: credentials.FileAWSCredentials{Profile: name}, clean: clean, limit: processTime}
}

// Retrieve is RetrieveWithCredContext.
func (p *profile) Retrieve() (credentials.Value, error) { return p.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext gives the profile's keys.
func (p *profile) RetrieveWithCredContext(with *credentials.CredContext) (credentials.Value, error) {
	command, err := p.process()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return credentials.Value{}, err
	}
	if p.ours = command != ""; !p.ours {
		return p.FileAWSCredentials.RetrieveWithCredContext(with)
	}
	ctx := context.Background()
	if with != nil && with.Context != nil {
		ctx = with.Context
	}
	got, err := p.keys(ctx, command)
	p.expires = got.Expiration
	return got, err
}

// IsExpired reports whether keys are to be asked for again; a program's without a time are good for ever.
func (p *profile) IsExpired() bool {
	if !p.ours {
		return p.FileAWSCredentials.IsExpired()
	}
	return !p.expires.IsZero() && time.Until(p.expires) < time.Minute
}

// process is the program that gives the profile's keys, "" where it has others, which come first, or what is wrong with them is the
// library's to say.
func (p *profile) process() (string, error) {
	name := p.Profile
	if name == "" {
		name = os.Getenv("AWS_PROFILE")
	}
	if name == "" {
		name = "default"
	}
	keys, err := profileKeys(name)
	if err != nil {
		return "", err
	}
	for _, first := range []string{"aws_access_key_id", "aws_secret_access_key", "sso_role_name", "sso_session", "sso_start_url", "sso_account_id", "sso_region"} {
		if keys.Key(first).String() != "" {
			return "", nil
		}
	}
	return strings.TrimSpace(keys.Key("credential_process").String()), nil
}

// profileKeys are those that both shared files have of a profile, as the library puts them together: the credentials file counts before
// the config file, where profiles are called `profile NAME`.
func profileKeys(name string) (*ini.Section, error) {
	out := ini.Empty().Section("")
	config, err := sharedFile("AWS_CONFIG_FILE", "config")
	if err != nil {
		return nil, err
	}
	own, err := config.GetSection("profile " + name)
	if err != nil && strings.EqualFold(name, "default") {
		own, err = config.GetSection(name)
	}
	known := err == nil
	if known {
		for _, k := range own.Keys() {
			out.Key(k.Name()).SetValue(k.Value())
		}
	}
	shared, err := sharedFile("AWS_SHARED_CREDENTIALS_FILE", "credentials")
	if err != nil {
		return nil, err
	}
	if own, err := shared.GetSection(name); err == nil {
		pair := own.HasKey("aws_access_key_id") && own.HasKey("aws_secret_access_key")
		for _, k := range own.Keys() {
			if known && !pair && slices.Contains([]string{"aws_access_key_id", "aws_secret_access_key", "aws_session_token"}, k.Name()) {
				continue // half a pair replaces none
			}
			out.Key(k.Name()).SetValue(k.Value())
		}
	}
	return out, nil
}

// sharedFile reads one of AWS's shared files, empty where there is none.
func sharedFile(variable, usual string) (*ini.File, error) {
	name := os.Getenv(variable)
	if name == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ini.Empty(), nil
		}
		name = filepath.Join(home, ".aws", usual)
	}
	data, err := rootfs.ReadFile(name, maxProfiles)
	if errors.Is(err, fs.ErrNotExist) {
		return ini.Empty(), nil
	}
	if err != nil {
		return nil, err
	}
	f, err := ini.Load(data)
	if err != nil {
		return nil, fmt.Errorf("%s is no INI file", name)
	}
	return f, nil
}

// keys are those that a program gives. Who waits no longer because the time of a request is over may come back for them; who does not
// want them any more ends the program.
func (p *profile) keys(ctx context.Context, command string) (credentials.Value, error) {
	p.mu.Lock()
	at := p.run
	if at == nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.limit)
		at = &processRun{cancel: cancel, done: make(chan struct{})}
		p.run = at
		broke.Go(func() {
			defer close(at.done)
			defer cancel()
			at.got, at.err = p.ask(limited, command)
		})
	}
	p.mu.Unlock()
	forget := func() {
		p.mu.Lock()
		if p.run == at {
			p.run = nil
		}
		p.mu.Unlock()
	}
	select {
	case <-at.done:
		forget()
		return at.got, at.err
	case <-ctx.Done():
	}
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if !late {
		at.cancel()
		forget()
	}
	return credentials.Value{}, &unsent{fmt.Errorf("the credential_process of the AWS profile has given no keys yet: %w", context.Cause(ctx)), late}
}

// processKeys is what a credential_process prints.
type processKeys struct {
	Version                       int
	AccessKeyID                   string `json:"AccessKeyId"`
	SecretAccessKey, SessionToken string
	Expiration                    *time.Time
}

// ask runs the program. Nothing that it prints is in an error.
func (p *profile) ask(ctx context.Context, command string) (v credentials.Value, err error) {
	args := words(command)
	if len(args) == 0 {
		return v, errors.New("credential_process names no program")
	}
	out := &child.Output{Limit: maxProcess}
	said := &child.Said{To: terminal.Stderr, Limit: maxProcessSay, Clean: p.clean}
	defer said.End()
	cmd := child.New(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = out, said
	err = cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	var got processKeys
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return v, fmt.Errorf("credential_process gave no keys within %s and was ended", p.limit)
	case failed:
		return v, fmt.Errorf("credential_process failed: %s", exit)
	case err != nil:
		return v, fmt.Errorf("credential_process: %s", err) // that it is missing is not that nothing was given
	case json.Unmarshal(out.Bytes(), &got) != nil || got.Version != 1 || got.AccessKeyID == "" || got.SecretAccessKey == "":
		return v, errors.New(`credential_process printed no keys as AWS says: {"Version": 1, "AccessKeyId": ..., "SecretAccessKey": ...}`)
	}
	v = credentials.Value{AccessKeyID: got.AccessKeyID, SecretAccessKey: got.SecretAccessKey, SessionToken: got.SessionToken, SignerType: credentials.SignatureV4}
	if got.Expiration != nil {
		v.Expiration = *got.Expiration
	}
	return v, nil
}

// words are those of a command; one with spaces is quoted. No shell has a part in it.
func words(command string) (out []string) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}
