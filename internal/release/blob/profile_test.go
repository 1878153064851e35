//go:build unix

package blob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"hawser.dev/hawser/internal/terminal"
	"hawser.dev/hawser/internal/tests3"
)

// profiles writes AWS's shared files, of which the profile's program is a script; %s stands for its directory.
func profiles(t *testing.T, config, shared, script string) string {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	dir := t.TempDir()
	for name, text := range map[string]string{"config": config, "credentials": shared, "a script": "#!/bin/sh\n" + script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "%s", dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(dir, "credentials"))
	return dir
}

const named1 = "[profile prod]\ncredential_process = \"%s/a script\" --for 'the bucket'\n"

var printed = fmt.Sprintf(`{"Version": 1, "AccessKeyId": %q, "SecretAccessKey": %q}`, tests3.AccessKeyID, tests3.SecretAccessKey)

// TestCredentialProcess: a program that a profile names gives the keys, where the profile has no others; what it says is passed on
// masked, and what is wrong is told without what it printed.
func TestCredentialProcess(t *testing.T) {
	for name, c := range map[string]struct {
		config, shared, script, says string // says: "" where it works
	}{
		"config file":       {config: named1, script: "[ \"$1 $2\" = '--for the bucket' ] && echo '" + printed + "'"},
		"credentials file":  {shared: strings.Replace(named1, "profile ", "", 1), script: "echo '" + printed + "'"},
		"half a pair aside": {config: named1, shared: "[prod]\naws_access_key_id = AKIAHALF\n", script: "echo '" + printed + "'"},
		"keys come first":   {config: named1, shared: "[prod]\naws_access_key_id = " + tests3.AccessKeyID + "\naws_secret_access_key = " + tests3.SecretAccessKey + "\n", script: "exit 1"},
		"fails":             {config: named1, script: "echo canary; exit 3", says: "credential_process failed: exit status 3"},
		"no keys":           {config: named1, script: `echo '{"Version": 1, "SecretAccessKey": "canary"}'`, says: "printed no keys"},
		"endless":           {config: named1, script: "yes canary", says: "credential_process"},
		"missing":           {config: strings.Replace(named1, "a script", "none", 1), says: "no such file"},
		"no program":        {config: "[profile prod]\ncredential_process = \"\"\n", says: "no credentials were found"},
		"no such profile":   {config: "[default]\n", says: "no credentials were found"},
		"no INI":            {config: "[canary", says: "is no INI file"},
	} {
		profiles(t, c.config, c.shared, "echo note of the canary >&2\n"+c.script)
		said, err := os.Create(filepath.Join(t.TempDir(), "said"))
		if err != nil {
			t.Fatal(err)
		}
		before := terminal.Stderr
		terminal.Stderr = said
		server := tests3.New(t, 0)
		t.Setenv("AWS_ENDPOINT_URL_S3", server.URL+"/")
		o := s3Options(server)
		o.Credentials = S3Credentials{Profile: "prod"}
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "canary", "***") }
		bucket := openS3(t, o)
		_, err = bucket.List(t.Context(), "")
		terminal.Stderr = before
		if c.says == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") || !errors.Is(err, errCredentials)) {
			t.Errorf("%s: %v", name, err)
		}
		if known := strings.Join(bucket.secrets(), " "); c.says == "" && !strings.Contains(known, tests3.SecretAccessKey) {
			t.Errorf("%s: the key is not known: %q", name, known)
		}
		text, err := os.ReadFile(said.Name())
		if ran := strings.Contains(string(text), "note of the ***\n"); err != nil || strings.Contains(string(text), "canary") || name == "config file" && !ran || name == "keys come first" && ran {
			t.Errorf("%s: it said %q, %v", name, text, err)
		}
		_ = said.Close()
	}
}

// gone waits until the process whose number a script wrote is no more.
func gone(t *testing.T, name, dir string) {
	t.Helper()
	var pid int
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		if pid, _ = strconv.Atoi(strings.TrimSpace(string(text))); pid == 0 {
			continue
		}
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
	}
	t.Errorf("%s: process %d is left", name, pid)
}

// TestCredentialProcessThatHangs: it is ended with what it started, when its time is over and when nobody wants it any more; who waited
// as long as a request may take comes back for the keys.
func TestCredentialProcessThatHangs(t *testing.T) {
	const hangs = "sleep 1000 &\necho $! > '%s/pid'\nwait\n"
	ask := func(ctx context.Context, p *profile) (credentials.Value, error) {
		return p.RetrieveWithCredContext(&credentials.CredContext{Context: ctx})
	}

	dir := profiles(t, named1, "", hangs)
	p := newProfile("prod", nil)
	p.limit = 500 * time.Millisecond
	if _, err := ask(t.Context(), p); err == nil || !strings.Contains(err.Error(), "gave no keys within 500ms and was ended") {
		t.Error(err)
	}
	gone(t, "its time is over", dir)

	dir = profiles(t, named1, "", hangs)
	p = newProfile("prod", nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	begun := time.Now()
	if _, err := ask(ctx, p); err == nil || time.Since(begun) > 20*time.Second {
		t.Error(err, time.Since(begun))
	}
	gone(t, "cancelled", dir)

	profiles(t, named1, "", "sleep 1\necho '"+printed+"'")
	p = newProfile("prod", nil)
	for n := 0; ; n++ {
		one, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
		got, err := ask(one, p)
		end()
		if late, ok := errors.AsType[*unsent](err); ok && late.again && n < 50 {
			continue
		}
		if err != nil || n == 0 || got.SecretAccessKey != tests3.SecretAccessKey || p.IsExpired() {
			t.Errorf("after %d: %v", n, err)
		}
		break
	}
}

// TestWords: a command is split as quotes say, and by no shell.
func TestWords(t *testing.T) {
	for command, want := range map[string]string{"a b\tc": "a|b|c", `"/opt/my tool" --x='1 2' ''`: "/opt/my tool|--x=1 2|", `C:\\bin\\x.exe $HOME;`: `C:\\bin\\x.exe|$HOME;`, "  ": ""} {
		if got := strings.Join(words(command), "|"); got != want {
			t.Errorf("%q: %q", command, got)
		}
	}
}
