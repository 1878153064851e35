package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
)

// connectAttempts is how often each request of Connect is sent: a cluster that is away should not be waited for long.
const connectAttempts = 3

// Connect reaches a cluster and learns its version, its kinds and its UID: four requests (/version, /api, /apis and
// the kube-system namespace) over one connection, one more where that namespace cannot be read. The error is a
// *kubeapi.UnreachableError when the cluster may just be away, else a *kubeapi.AccessError.
func Connect(ctx context.Context, c Config) (*Session, error) {
	client, err := kubeapi.Open(kubeapi.Config{Name: c.Name, Access: c.Access, UserAgent: c.UserAgent, Parallel: c.Parallel,
		RequestTimeout: c.RequestTimeout, Redact: c.Redact, Now: c.Now})
	if err != nil {
		return nil, err
	}
	s := &Session{Client: client, judging: make(chan struct{}, judgedAtOnce)}
	s.facts = fleet.Facts{Name: c.Name, Server: client.Server(), ServerID: client.ServerID()}
	timeout := c.ConnectTimeout
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.learnFacts(ctx, timeout, c.Ahead); err != nil {
		s.Close()
		return nil, client.Failure(err)
	}
	return s, nil
}

// learnFacts sends the four requests: the first one makes the connection, the others follow on it, and what is read
// ahead with them.
func (s *Session) learnFacts(ctx context.Context, timeout time.Duration, ahead func(context.Context, *Session)) error {
	connected := make(chan struct{})
	failed := make(chan struct{})
	once := kubeapi.Request{Method: http.MethodGet, Timeout: timeout, Attempts: connectAttempts}
	var wg sync.WaitGroup
	var errVersion, errKinds, errSystem error
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	wg.Go(func() {
		r := once
		r.Path, r.Into, r.OnConn = "/version", &version, sync.OnceFunc(func() { close(connected) })
		if _, errVersion = s.Do(ctx, r); errVersion != nil {
			close(failed)
		}
	})
	var system meta
	select {
	case <-connected:
		wg.Go(func() { errKinds = s.Discover(ctx, once) })
		wg.Go(func() {
			r := once
			r.Path, r.Named, r.Accept, r.Into = "/api/v1/namespaces/kube-system", "kube-system", kubeapi.MetadataType, &system
			_, errSystem = s.Do(ctx, r)
		})
		if ahead != nil {
			wg.Go(func() { ahead(ctx, s) })
		}
	case <-failed:
	}
	wg.Wait()
	if errVersion != nil {
		return errVersion
	}
	if errKinds != nil {
		return errKinds
	}
	s.facts.Version = strings.TrimPrefix(version.GitVersion, "v")
	s.facts.UID = string(system.UID)
	if errSystem != nil {
		return s.weakUID(ctx, errSystem)
	}
	return nil
}

// weakUID takes the record namespace's UID where kube-system may not be read. Without that namespace there is no UID
// yet; it gets one with the first record.
func (s *Session) weakUID(ctx context.Context, cause error) error {
	if !apierrors.IsForbidden(cause) && !apierrors.IsNotFound(cause) {
		return cause
	}
	var own meta
	_, err := s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + object.SystemNamespace, Named: object.SystemNamespace, Accept: kubeapi.MetadataType, Into: &own})
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return err
	}
	s.facts.UID, s.facts.WeakUID = string(own.UID), true
	return nil
}
