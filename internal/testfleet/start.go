package testfleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"hawser.dev/hawser/internal/sandboxbin"
)

// ready is what `hawser-sandbox up -o json` prints when all clusters are ready.
type ready struct {
	Name       string    `json:"name"`
	Dir        string    `json:"dir"`
	Kubeconfig string    `json:"kubeconfig"`
	Fleet      string    `json:"fleet"`
	Socket     string    `json:"socket"`
	Clusters   []Cluster `json:"clusters"`
}

func (r ready) find(name string) (Cluster, bool) {
	for _, c := range r.Clusters {
		if c.Name == name {
			return c, true
		}
	}
	return Cluster{}, false
}

// Time limits: a cold build on a slow machine, and a start beside other packages' builds.
const (
	buildTimeout = 30 * time.Minute
	startTimeout = 15 * time.Minute
	closeTimeout = 5 * time.Minute
)

// collect is when the API servers of tests collect garbage, as GOGC: a sandbox saves memory for who leaves it running, which takes a fifth of the time
// of tests that ask much.
const collect = "200"

// sandboxBinary builds the sandbox from this source tree, or takes it from the cache.
func sandboxBinary() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	return sandboxbin.FromSource(ctx, os.Stderr)
}

// stateDir holds the sandboxes that test packages start, apart from those of the user.
func stateDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("hawser-testfleet-%d", os.Getuid()))
}

// reuse grows a running sandbox, which may be another test package's, and starts one of that name where none runs.
func reuse(binary, name string, args []string) (ready, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	args = append([]string{"up", "--name", name, "-o", "json"}, args...)
	if _, err := os.Stat(filepath.Join(stateDir(), name, "state.json")); err == nil {
		args = append(args, "--state-dir", stateDir())
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		return ready{}, fmt.Errorf("%s up --name %s: %w\n%s", sandboxbin.Name, name, err, &talk)
	}
	var r ready
	return r, json.Unmarshal(out.Bytes(), &r)
}

// attach starts a sandbox that ends when this process does, however it ends: its standard input is a pipe from us.
func attach(binary string, args []string) (ready, func() error, error) {
	name := fmt.Sprintf("t%d-%06x", os.Getpid(), rand.N(1<<24))
	cmd := exec.Command(binary, append([]string{"up", "--attached", "--name", name, "--state-dir", stateDir(), "-o", "json"}, args...)...)
	cmd.Env = append(os.Environ(), "GOGC="+collect)
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return ready{}, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return ready{}, nil, err
	}
	talk := &lockedBuffer{}
	cmd.Stderr = talk
	if err := cmd.Start(); err != nil {
		return ready{}, nil, err
	}
	gone := make(chan error, 1)
	end := func() error {
		_ = lifeline.Close() // it ends on this, and on the pipe being broken
		select {
		case <-gone:
			return nil
		case <-time.After(closeTimeout):
			return errors.Join(fmt.Errorf("the sandbox did not end in %s and was killed\n%s", closeTimeout, talk), cmd.Process.Kill())
		}
	}
	var r ready
	decoded := make(chan error, 1)
	go func() {
		decoded <- json.NewDecoder(out).Decode(&r)
		_, _ = io.Copy(io.Discard, out)
		gone <- cmd.Wait()
	}()
	select {
	case err := <-decoded:
		if err == nil {
			return r, end, nil
		}
		return ready{}, nil, errors.Join(fmt.Errorf("the sandbox did not start\n%s", talk), end())
	case <-time.After(startTimeout):
		return ready{}, nil, errors.Join(fmt.Errorf("the sandbox was not ready in %s\n%s", startTimeout, talk), end())
	}
}

// lockedBuffer collects what a process says while others read it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf.Len() > 1<<20 {
		return len(p), nil
	}
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
