package supervisor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"k8s.io/component-base/version"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/controlplane"
	"hawser.dev/hawser/sandbox/fault"
	"hawser.dev/hawser/sandbox/state"
)

// cluster is one control plane under supervision. op is held during one of its verbs; mu guards the fields.
type cluster struct {
	spec  state.Cluster
	hold  *portHold
	proxy *fault.Proxy

	op    sync.Mutex
	ran   bool // started once under this supervisor; guarded by op
	mu    sync.Mutex
	phase control.Phase
	proc  *process
}

func (c *cluster) set(phase control.Phase, p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase, c.proc = phase, p
}

// now returns the phase and the process; a process that ended by itself makes the phase crashed.
func (c *cluster) now() (control.Phase, *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc != nil && c.proc.gone() {
		c.phase, c.proc = control.PhaseCrashed, nil
	}
	return c.phase, c.proc
}

func (c *cluster) status() control.ClusterStatus {
	phase, proc := c.now()
	s := control.ClusterStatus{
		Name: c.spec.Name, Group: c.spec.Group, Phase: phase, Version: version.Get().GitVersion,
		URL: c.spec.URL(), FaultURL: c.spec.FaultURL(), Workloads: c.spec.Workloads,
	}
	if proc != nil {
		s.PID, s.RSSBytes, s.Since = proc.pid(), ResidentBytes(proc.pid()), proc.started
	}
	s.Fault, s.Matched, s.Faulted = c.proxy.Current()
	return s
}

// close ends the control plane and gives its ports back.
func (c *cluster) close() {
	if _, p := c.now(); p != nil {
		p.kill()
	}
	c.set(control.PhaseStopped, nil)
	_ = c.proxy.Close() // nobody is left to be told
	c.hold.release()
}

// place gives a new or stored cluster its ports, directory, certificates and proxy. It starts nothing.
func (s *Supervisor) place(spec state.Cluster) (*cluster, error) {
	// Stored ports can be taken by others while the sandbox is down; then the cluster gets new ones.
	hold, port, err := holdPort(spec.Port)
	if err != nil && spec.Port != 0 {
		hold, port, err = holdPort(0)
	}
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", spec.FaultPort))
	if err != nil && spec.FaultPort != 0 {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		hold.release()
		return nil, err
	}
	spec.Port, spec.FaultPort = port, listener.Addr().(*net.TCPAddr).Port
	c := &cluster{spec: spec, hold: hold, phase: control.PhaseStopped}
	err = s.writeClusterFiles(spec)
	if err == nil {
		c.proxy, err = s.newProxy(spec)
	}
	if err != nil {
		hold.release()
		return nil, errors.Join(err, listener.Close())
	}
	go func() { _ = c.proxy.Serve(listener) }() // ends with Close
	return c, nil
}

func (s *Supervisor) newProxy(spec state.Cluster) (*fault.Proxy, error) {
	serving, err := s.ca.Server(spec.Name+state.FaultSuffix, nil)
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(serving.Cert, serving.Key)
	if err != nil {
		return nil, err
	}
	client, err := tls.X509KeyPair(s.admin.Cert, s.admin.Key)
	if err != nil {
		return nil, err
	}
	upstream, err := url.Parse(spec.URL())
	if err != nil {
		return nil, err
	}
	return fault.NewProxy(fault.Config{Upstream: upstream, CA: s.pool, Serving: cert, Client: client, User: s.admin.User}), nil
}

// writeClusterFiles makes all that controlplane.Config wants to find on disk. Certificates are made anew each time,
// the key that signs service account tokens only once, so that tokens stay valid.
func (s *Supervisor) writeClusterFiles(spec state.Cluster) error {
	dir := s.dir.Cluster(spec.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cfg := controlplane.Config{
		Cluster: spec, Dir: dir, CAFile: s.ca.CertFile, FrontProxyCAFile: s.frontProxy.CertFile,
		EtcdSocket: s.dir.EtcdSocket(), EtcdPrefix: "/" + spec.Name,
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	return errors.Join(
		state.WriteFile(s.configFile(spec.Name), raw),
		state.WriteFile(s.dir.Path("clusters", spec.Name, controlplane.AuditPolicy), []byte(controlplane.AuditPolicyYAML)),
		s.writePairs(spec, dir),
		s.writeComponentKubeconfigs(spec, dir),
	)
}

func (s *Supervisor) configFile(name string) string {
	return s.dir.Path("clusters", name, "config.json")
}

// start runs the control plane and returns when it is ready or has failed; a failed one is not left running.
func (s *Supervisor) start(ctx context.Context, c *cluster) error {
	log := s.dir.ClusterLog(c.spec.Name)
	p, err := s.spawn.start(log, "run-cluster", "--config", s.configFile(c.spec.Name))
	if err != nil {
		return fmt.Errorf("cluster %s: %w", c.spec.Name, err)
	}
	c.set(control.PhaseStarting, p)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := s.waitReady(ctx, c.spec, p); err != nil {
		lines := tail(log, 5)
		p.kill()
		c.set(control.PhaseStopped, nil)
		return fmt.Errorf("cluster %s: %w; the end of %s:\n%s", c.spec.Name, err, log, lines)
	}
	c.set(control.PhaseRunning, p)
	return nil
}

// readyTimeout bounds a start. It is long because many clusters may start on few cores.
const readyTimeout = 3 * time.Minute

// do runs one verb on a cluster.
func (s *Supervisor) do(ctx context.Context, verb string, c *cluster) error {
	c.op.Lock()
	defer c.op.Unlock()
	phase, p := c.now()
	wrong := func(want string) error {
		return fmt.Errorf("cluster %s is %s: %s works on one that is %s", c.spec.Name, phase, verb, want)
	}
	switch verb {
	case "stop":
		if p == nil {
			return nil
		}
		p.kill()
		c.set(control.PhaseStopped, nil)
		return nil
	case "start":
		if phase == control.PhasePaused {
			return wrong("stopped; use resume")
		}
		if p != nil {
			return nil
		}
		return s.start(ctx, c)
	case "pause":
		if phase == control.PhasePaused {
			return nil
		}
		if phase != control.PhaseRunning {
			return wrong("running")
		}
		c.set(control.PhasePaused, p)
		return p.signal(syscall.SIGSTOP)
	case "resume":
		if phase == control.PhaseRunning {
			return nil
		}
		if phase != control.PhasePaused {
			return wrong("paused")
		}
		c.set(control.PhaseRunning, p)
		return p.signal(syscall.SIGCONT)
	}
	return fmt.Errorf("%q: there are stop, start, pause and resume", verb)
}
