package supervisor

import (
	"errors"
	"net"
	"os"
	"path/filepath"

	"hawser.dev/hawser/sandbox/controlplane"
	"hawser.dev/hawser/sandbox/pki"
	"hawser.dev/hawser/sandbox/state"
)

// AdminUser is the user of the sandbox's kubeconfig; AdminGroup may do everything.
const (
	AdminUser  = "sandbox-admin"
	AdminGroup = "system:masters"
)

// Identify mints a client certificate for a user of the sandbox in dir.
func Identify(dir state.Dir, user string, groups ...string) (state.Identity, error) {
	ca, err := pki.LoadOrCreate(dir.PKI(), "ca")
	if err != nil {
		return state.Identity{}, err
	}
	return identify(ca, user, groups...)
}

func identify(ca *pki.Authority, user string, groups ...string) (state.Identity, error) {
	pair, err := ca.Client(user, groups...)
	return state.Identity{User: user, CA: ca.CertPEM, Cert: pair.Cert, Key: pair.Key}, err
}

// writePairs makes the certificates and keys of one API server.
func (s *Supervisor) writePairs(spec state.Cluster, dir string) error {
	serving, err := s.ca.Server(spec.Name, []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}, net.IPv4(10, 96, 0, 1))
	if err != nil {
		return err
	}
	front, err := s.frontProxy.Client(controlplane.FrontProxyPair)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, controlplane.SigningPair+".key")); errors.Is(err, os.ErrNotExist) {
		signing, err := pki.SigningKey()
		if err != nil {
			return err
		}
		if err := signing.Save(dir, controlplane.SigningPair); err != nil {
			return err
		}
	}
	return errors.Join(serving.Save(dir, controlplane.ServingPair), front.Save(dir, controlplane.FrontProxyPair))
}

// writeComponentKubeconfigs gives each component an administrator's certificate under its own name, by which the
// audit log tells its requests from a client's.
func (s *Supervisor) writeComponentKubeconfigs(spec state.Cluster, dir string) error {
	users := []string{controlplane.UserControllerManager}
	if spec.Workloads {
		users = append(users, controlplane.UserScheduler, controlplane.UserKwok)
	}
	for _, user := range users {
		id, err := identify(s.ca, user, AdminGroup)
		if err != nil {
			return err
		}
		raw, err := state.Kubeconfig([]state.Cluster{spec}, id)
		if err != nil {
			return err
		}
		if err := state.WriteFile(filepath.Join(dir, controlplane.KubeconfigFor(user)), raw); err != nil {
			return err
		}
	}
	return nil
}

// OwnUsers are the users of the control plane's own components; `audit` leaves their requests out.
func OwnUsers() []string {
	return []string{
		controlplane.UserAPIServer, controlplane.UserControllerManager, controlplane.UserScheduler,
		controlplane.UserKwok, controlplane.UserSupervisor,
	}
}
