// Package supervisor owns what runs in a sandbox: one etcd, one process per cluster, one fault-injecting proxy per
// cluster, and the Unix socket by which commands reach it.
//
// Nothing it started outlives it: its children die with it (see process.go), and it removes its directory when it
// is told to go down or when an attached sandbox loses its parent. It must not know how commands are spelled.
package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/controlplane"
	"hawser.dev/hawser/sandbox/pki"
	"hawser.dev/hawser/sandbox/state"
)

// Options say which sandbox a Supervisor runs.
type Options struct {
	Dir      state.Dir
	Name     string
	Attached bool
}

// Supervisor runs one sandbox.
type Supervisor struct {
	dir            state.Dir
	started        time.Time
	ca, frontProxy *pki.Authority
	pool           *x509.CertPool
	admin          state.Identity
	probe          tls.Certificate
	spawn          *spawner
	etcd           *embed.Etcd
	listener       net.Listener
	end            chan control.DownRequest // one request to end, by whom ever
	gone           chan struct{}            // closed when everything has ended

	grow     sync.Mutex // one Up at a time
	mu       sync.Mutex // guards the rest
	saved    state.Sandbox
	clusters []*cluster
	closing  bool
}

// New makes the sandbox's directory, authorities, etcd and socket. Run must follow. When it fails, what it made
// for a new sandbox is removed.
func New(o Options) (s *Supervisor, err error) {
	saved, err := o.Dir.Load()
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return nil, err
	}
	if fresh {
		saved = &state.Sandbox{Name: o.Name, Created: time.Now().UTC().Truncate(time.Second)}
	}
	saved.PID, saved.Attached = os.Getpid(), o.Attached
	s = &Supervisor{
		dir: o.Dir, started: time.Now(), saved: *saved, spawn: newSpawner(),
		end: make(chan control.DownRequest, 1), gone: make(chan struct{}),
	}
	defer func() {
		if err != nil && fresh {
			err = errors.Join(err, o.Dir.Remove())
		}
	}()
	if err := os.MkdirAll(string(o.Dir), 0o700); err != nil {
		return nil, err
	}
	if err := o.Dir.MakeSocketDir(); err != nil {
		return nil, err
	}
	if err := s.makeIdentities(); err != nil {
		return nil, err
	}
	if err := o.Dir.SaveFiles(&s.saved, s.admin); err != nil {
		return nil, err
	}
	if s.etcd, err = startEtcd(o.Dir); err != nil {
		return nil, err
	}
	if err := os.Remove(o.Dir.ControlSocket()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.listener, err = net.Listen("unix", o.Dir.ControlSocket()); err != nil {
		return nil, err
	}
	return s, os.Chmod(o.Dir.ControlSocket(), 0o600)
}

func (s *Supervisor) makeIdentities() (err error) {
	if s.ca, err = pki.LoadOrCreate(s.dir.PKI(), "ca"); err != nil {
		return err
	}
	if s.frontProxy, err = pki.LoadOrCreate(s.dir.PKI(), "front-proxy-ca"); err != nil {
		return err
	}
	s.pool = x509.NewCertPool()
	s.pool.AppendCertsFromPEM(s.ca.CertPEM)
	if s.admin, err = identify(s.ca, AdminUser, AdminGroup); err != nil {
		return err
	}
	probe, err := identify(s.ca, controlplane.UserSupervisor, AdminGroup)
	if err != nil {
		return err
	}
	s.probe, err = tls.X509KeyPair(probe.Cert, probe.Key)
	return err
}

// Run serves the socket until somebody ends the sandbox or ctx ends, then ends everything. When ctx ends, the data
// of a sandbox that is attached or has no clusters yet is removed, that of any other one is kept.
func (s *Supervisor) Run(ctx context.Context) error {
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(s.listener) }() // ends with the process
	var req control.DownRequest
	var cause error
	select {
	case req = <-s.end:
	case <-ctx.Done():
		req.KeepData = s.worthKeeping()
	case cause = <-s.etcd.Err():
		req.KeepData = s.worthKeeping()
	}
	err := s.shutdown(req)
	close(s.gone)
	// Give the answer to `down` time to leave; the process ends after this.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return errors.Join(cause, err, server.Shutdown(ctx))
}

func (s *Supervisor) worthKeeping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.saved.Attached && len(s.saved.Clusters) > 0
}

func (s *Supervisor) shutdown(req control.DownRequest) error {
	s.mu.Lock()
	s.closing = true
	clusters := s.clusters
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, c := range clusters {
		wg.Go(c.close)
	}
	wg.Wait()
	if req.KeepData {
		s.etcd.Close()
		return errors.Join(removeIfThere(s.dir.ControlSocket()), removeIfThere(s.dir.EtcdSocket()), removeIfThere(s.dir.EtcdPeerSocket()))
	}
	s.etcd.Server.HardStop()
	return s.dir.Remove()
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Up starts the stored clusters that were not started since the supervisor began, and the given new ones. When one
// of them fails, or ctx ends, the new ones are taken back and the error names the first that failed.
func (s *Supervisor) Up(ctx context.Context, fresh []state.Cluster, progress func(control.Progress)) error {
	s.grow.Lock()
	defer s.grow.Unlock()
	added, err := s.addAll(fresh)
	if err == nil {
		err = s.startAll(ctx, progress)
	}
	if err != nil {
		return errors.Join(err, s.take(added))
	}
	return nil
}

// addAll places clusters and writes the files that name them.
func (s *Supervisor) addAll(fresh []state.Cluster) ([]*cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errors.New("the sandbox is going down")
	}
	specs := fresh
	if s.clusters == nil {
		specs = append(append([]state.Cluster{}, s.saved.Clusters...), fresh...)
	}
	known := len(specs) - len(fresh)
	var added []*cluster
	for i, spec := range specs {
		if i >= known {
			if _, taken := s.saved.Find(spec.Name); taken {
				return added, fmt.Errorf("cluster %s: there is one already", spec.Name)
			}
		}
		c, err := s.place(spec)
		if err != nil {
			return added, fmt.Errorf("cluster %s: %w", spec.Name, err)
		}
		s.clusters = append(s.clusters, c)
		if i >= known {
			added = append(added, c)
			s.saved.Clusters = append(s.saved.Clusters, c.spec)
		} else {
			s.saved.Clusters[i] = c.spec
		}
	}
	return added, s.dir.SaveFiles(&s.saved, s.admin)
}

// startAll starts every cluster that never ran under this supervisor, a few at a time.
func (s *Supervisor) startAll(ctx context.Context, progress func(control.Progress)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, max(4, 2*runtime.NumCPU()))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for _, c := range s.list() {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			begun, err := s.startNew(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if first == nil {
					first = err
				}
				cancel()
				return
			}
			if !begun.IsZero() {
				progress(control.Progress{Cluster: c.spec.Name, Message: fmt.Sprintf("ready in %.1fs  %s", time.Since(begun).Seconds(), c.spec.URL())})
			}
		})
	}
	wg.Wait()
	return first
}

// startNew starts a cluster that never ran under this supervisor and returns when it began; the zero time for one
// that is left as it is: running, or stopped on purpose.
func (s *Supervisor) startNew(ctx context.Context, c *cluster) (time.Time, error) {
	c.op.Lock()
	defer c.op.Unlock()
	if c.ran {
		return time.Time{}, nil
	}
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	begun := time.Now()
	if err := s.start(ctx, c); err != nil {
		return begun, err
	}
	c.ran = true
	return begun, nil
}

// take removes clusters that were added in vain.
func (s *Supervisor) take(added []*cluster) error {
	var err error
	for _, c := range added {
		c.close()
		s.mu.Lock()
		for i := range s.clusters {
			if s.clusters[i] == c {
				s.clusters = append(s.clusters[:i:i], s.clusters[i+1:]...)
				break
			}
		}
		for i := range s.saved.Clusters {
			if s.saved.Clusters[i].Name == c.spec.Name {
				s.saved.Clusters = append(s.saved.Clusters[:i:i], s.saved.Clusters[i+1:]...)
				break
			}
		}
		s.mu.Unlock()
		err = errors.Join(err, s.forget(c.spec.Name), os.RemoveAll(s.dir.Cluster(c.spec.Name)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil
	}
	return errors.Join(err, s.dir.SaveFiles(&s.saved, s.admin))
}

func (s *Supervisor) list() []*cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*cluster{}, s.clusters...)
}

func (s *Supervisor) find(name string) (*cluster, error) {
	for _, c := range s.list() {
		if c.spec.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("cluster %q: sandbox %s has none of that name", name, s.saved.Name)
}

// Status says how everything is.
func (s *Supervisor) Status() control.Status {
	st := control.Status{
		Name: s.saved.Name, Dir: string(s.dir), Running: true, Attached: s.saved.Attached, PID: os.Getpid(),
		RSSBytes: ResidentBytes(os.Getpid()), Since: s.started, Created: s.saved.Created,
	}
	for _, c := range s.list() {
		st.Clusters = append(st.Clusters, c.status())
	}
	return st
}

// Down asks Run to end the sandbox and waits until it has.
func (s *Supervisor) Down(req control.DownRequest) {
	select {
	case s.end <- req:
	default: // somebody else asked first
	}
	<-s.gone
}
