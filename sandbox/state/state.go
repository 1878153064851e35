// Package state is what a sandbox keeps on disk: where each file lies, the list of its clusters, and the
// kubeconfig and fleet files made from that list.
//
// Every file is written whole (temporary file, then rename) with mode 0600 below a directory of mode 0700.
// The package must not know how a cluster is run: it starts no process and opens no connection.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Cluster is one control plane of a sandbox, as asked for and as placed.
type Cluster struct {
	// Name is the name of the cluster and of its kubeconfig context.
	Name string `json:"name"`
	// Group is the fleet group the cluster belongs to.
	Group string `json:"group"`
	// Port is where the API server listens on 127.0.0.1. It is kept over stop and start.
	Port int `json:"port"`
	// FaultPort is where the fault-injecting proxy listens on 127.0.0.1.
	FaultPort int `json:"faultPort"`
	// Workloads says whether scheduler, workload controllers and simulated nodes run.
	Workloads bool `json:"workloads"`
	// Nodes is the number of simulated nodes; it counts only with Workloads.
	Nodes int `json:"nodes,omitempty"`
	// RuntimeConfig is handed to kube-apiserver as --runtime-config.
	RuntimeConfig string `json:"runtimeConfig,omitempty"`
}

// URL is the address of the API server.
func (c Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.Port) }

// FaultURL is the address of the fault-injecting proxy.
func (c Cluster) FaultURL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.FaultPort) }

// Sandbox is the content of state.json.
type Sandbox struct {
	// Name is the name given with --name.
	Name string `json:"name"`
	// Created is when the first up was run.
	Created time.Time `json:"created"`
	// PID is the process of the supervisor, for cleaning up after it died.
	PID int `json:"pid"`
	// Attached says that the sandbox ends with the process that started it.
	Attached bool `json:"attached,omitempty"`
	// Clusters are in the order in which they were asked for.
	Clusters []Cluster `json:"clusters"`
}

// Find returns the cluster of that name.
func (s *Sandbox) Find(name string) (Cluster, bool) {
	for _, c := range s.Clusters {
		if c.Name == name {
			return c, true
		}
	}
	return Cluster{}, false
}

// Dir is the directory of one sandbox. Its methods say where each file lies.
type Dir string

// Root is the directory that holds all sandboxes of the user: $XDG_STATE_HOME/hawser/sandbox.
func Root() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("state directory: %w: set HOME or XDG_STATE_HOME", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "hawser", "sandbox"), nil
}

// Path is a file or directory inside the sandbox.
func (d Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.Path("kubeconfig") }

// FleetCUE is the path of the fleet file in CUE.
func (d Dir) FleetCUE() string { return d.Path("fleet.cue") }

// FleetYAML is the path of the fleet file in YAML.
func (d Dir) FleetYAML() string { return d.Path("fleet.yaml") }

// PKI is the directory of the certificate authorities.
func (d Dir) PKI() string { return d.Path("pki") }

// Log is the path of the supervisor's log.
func (d Dir) Log() string { return d.Path("supervisor.log") }

// Cluster is the directory of one cluster.
func (d Dir) Cluster(name string) string { return d.Path("clusters", name) }

// ClusterLog is the path of the log of one control plane.
func (d Dir) ClusterLog(name string) string { return d.Path("clusters", name, "log") }

// AuditLog is the path of the API server's own audit log.
func (d Dir) AuditLog(name string) string { return d.Path("clusters", name, "audit.log") }

// maxSocketPath keeps a socket's path under the limit of sun_path: 104 bytes on macOS, 108 on Linux.
const maxSocketPath = 90

// SocketDir is where the sandbox's Unix sockets lie: the sandbox itself, or, when its path is too long for a
// socket, a private directory below the system's temporary directory.
func (d Dir) SocketDir() string {
	if len(d) <= maxSocketPath {
		return string(d)
	}
	sum := sha256.Sum256([]byte(d))
	return filepath.Join("/tmp", fmt.Sprintf("hawser-sandbox-%d-%s", os.Getuid(), hex.EncodeToString(sum[:8])))
}

// ControlSocket is the supervisor's socket.
func (d Dir) ControlSocket() string { return filepath.Join(d.SocketDir(), "control.sock") }

// EtcdSocket is the socket on which etcd serves its clients.
func (d Dir) EtcdSocket() string { return filepath.Join(d.SocketDir(), "etcd.sock") }

// EtcdPeerSocket is the socket etcd insists on for peers it does not have.
func (d Dir) EtcdPeerSocket() string { return filepath.Join(d.SocketDir(), "peer.sock") }

// MakeSocketDir creates SocketDir and makes sure that nobody else owns or reads it.
func (d Dir) MakeSocketDir() error {
	dir := d.SocketDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s: must be a directory of mode 0700: somebody else made it; remove it", dir)
	}
	return ownedByUs(dir, info)
}

// Remove deletes the sandbox's directory and its sockets.
func (d Dir) Remove() error {
	err := os.RemoveAll(string(d))
	if s := d.SocketDir(); s != string(d) {
		err = errors.Join(err, os.RemoveAll(s))
	}
	return err
}

// Load reads state.json. The error is fs.ErrNotExist when there is no such sandbox.
func (d Dir) Load() (*Sandbox, error) {
	raw, err := os.ReadFile(d.Path("state.json"))
	if err != nil {
		return nil, err
	}
	s := &Sandbox{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("%s: %w: remove the sandbox with `down`", d.Path("state.json"), err)
	}
	return s, nil
}

// Save writes state.json.
func (d Dir) Save(s *Sandbox) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(d.Path("state.json"), append(raw, '\n'))
}

// List returns the names of the sandboxes below root, sorted.
func List(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, e.Name(), "state.json")); err == nil {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names, nil
}

// WriteFile replaces a file by a new one of mode 0600, so that a reader sees either all of the old or all of the new.
func WriteFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err := tmp.Write(content); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// CheckName says why a sandbox or cluster may not have that name, or returns nil.
func CheckName(kind, name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%s name %q: use lower-case letters, digits and '-', at most 63, as in a DNS label", kind, name)
	}
	if strings.HasSuffix(name, FaultSuffix) {
		return fmt.Errorf("%s name %q: names ending in %q are taken by the contexts of the fault-injecting proxies", kind, name, FaultSuffix)
	}
	return nil
}
