package cluster

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rights"
)

// connectAttempts is how often each request of Connect is sent: a cluster that is away should not be waited for long.
const connectAttempts = 3

// Connect reaches a cluster and learns its version, its kinds and its UID: four requests (/version, /api, /apis and
// the kube-system namespace) over one connection, one more where that namespace cannot be read. The error is a
// *kubeapi.UnreachableError when the cluster may just be away, else a *kubeapi.AccessError.
func Connect(ctx context.Context, c Config) (*Session, error) {
	client, err := kubeapi.Open(c.Config)
	if err != nil {
		return nil, err
	}
	s := &Session{Client: client, learned: &learned{judging: make(chan struct{}, judgedAtOnce), close: client.Close}}
	if err := s.LearnFacts(ctx, c); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// For is another session on the same connection, for a run of its own: it masks by that run's secrets, and closed says what its Close does.
func (s *Session) For(redact func(string) string, closed func()) *Session {
	return &Session{Client: s.Masked(redact), learned: &learned{facts: s.Facts(), verified: s.verified, judging: s.judging, close: closed}}
}

// Close gives the session back, and ends its connection where nobody else keeps that. Requests in flight go on.
func (s *Session) Close() { s.close() }

// LearnFacts asks for the facts and the kinds, of a session that nobody uses yet; errors are those of Connect.
func (s *Session) LearnFacts(ctx context.Context, c Config) error {
	s.facts = fleet.Facts{Name: c.Name, Server: s.Server(), ServerID: s.ServerID()}
	timeout := cmp.Or(max(c.ConnectTimeout, 0), 10*time.Second)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.ask(ctx, timeout, c.Ahead); err != nil {
		return s.Failure(err)
	}
	s.verified = s.Now()
	return nil
}

// ask sends the four requests: the first one makes the connection, the others follow on it, and what is read
// ahead with them.
func (s *Session) ask(ctx context.Context, timeout time.Duration, ahead func(context.Context, *Session)) error {
	connected := make(chan struct{})
	failed := make(chan struct{})
	once := kubeapi.Request{Method: http.MethodGet, Timeout: timeout, Attempts: connectAttempts}
	var wg broke.Group
	var errVersion, errKinds, errUID error
	wg.Go(func() {
		r := once
		r.OnConn = sync.OnceFunc(func() { close(connected) })
		if s.facts.Version, errVersion = s.ServerVersion(ctx, r); errVersion != nil {
			close(failed)
		}
	})
	select {
	case <-connected:
		wg.Go(func() { errKinds = s.Discover(ctx, once) })
		wg.Go(func() { s.facts.UID, s.facts.WeakUID, errUID = s.ClusterUID(ctx, once) })
		if ahead != nil {
			wg.Go(func() { ahead(ctx, s) })
		}
	case <-failed:
	}
	wg.Wait()
	return cmp.Or(errVersion, errKinds, errUID)
}

// Verify asks again which cluster answers, and which version it runs, in one round trip, unless that was asked a moment ago. Where
// it is another cluster the error is a finding; one that was upgraded is learned anew.
func (s *Session) Verify(ctx context.Context) error {
	s.learned.mu.RLock()
	sure := s.Now().Sub(s.verified) < rights.FreshFor
	s.learned.mu.RUnlock()
	if sure {
		return nil
	}
	s = s.As(kubeapi.Identity{})
	like, was := kubeapi.Request{Method: http.MethodGet, Attempts: connectAttempts}, s.Facts()
	now := was
	var wg broke.Group
	var errUID error
	wg.Go(func() { now.UID, now.WeakUID, errUID = s.ClusterUID(ctx, like) })
	version, err := s.ServerVersion(ctx, like)
	if wg.Wait(); err != nil || errUID != nil {
		return s.Failure(cmp.Or(err, errUID))
	}
	if was.Identity().Match(now.Identity()) == fleet.OtherCluster {
		return diag.Findings{fleet.Replaced(s.Name(), was.Identity(), now.Identity())}.Err()
	}
	s.learned.mu.Lock()
	s.facts.Version, s.verified = version, s.Now()
	s.learned.mu.Unlock()
	if version == was.Version {
		return nil
	}
	return s.Refresh(ctx)
}

// Check asks which rights are missing for a plan, and whether it is still the same cluster that answers, in one round trip.
func (s *Session) Check(ctx context.Context, p *plan.Plan, bodies map[object.Ref]object.Object) diag.Findings {
	var wg broke.Group
	var err error
	wg.Go(func() { err = s.Verify(ctx) })
	out := s.Review(ctx, p, bodies)
	if wg.Wait(); err != nil {
		return diag.From(err, "access").OnCluster(s.Name())
	}
	return out
}

func (s *Session) version() string {
	s.learned.mu.RLock()
	defer s.learned.mu.RUnlock()
	return s.facts.Version
}
