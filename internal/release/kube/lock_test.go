package kube_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testfleet"
)

func lockCause(l release.Lock) error { return context.Cause(l.Context()) }

// The test binary with envHold set is a process that takes the lock of that owner, through the kubeconfig of envConfig,
// and keeps it until it is killed.
const (
	envHold   = "HAWSER_TEST_HOLD_LOCK"
	envConfig = "HAWSER_TEST_KUBECONFIG"
)

func hold(owner string) error {
	cfg, err := configOf(os.Getenv(envConfig))
	if err != nil {
		return err
	}
	h, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	c := &client{http: h, base: strings.TrimSuffix(cfg.Host, "/")}
	if _, err := kube.New(c, cluster).Lock(context.Background(), owner, "ann@laptop", time.Hour); err != nil {
		return err
	}
	fmt.Println("holding")
	select {}
}

func configOf(path string) (*rest.Config, error) {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: path},
		&clientcmd.ConfigOverrides{CurrentContext: cluster}).ClientConfig()
}

// A process on this machine is killed (SIGKILL) while it holds a lock for an hour: the next one takes it at once.
func TestLockOfAKilledProcess(t *testing.T) {
	t.Parallel()
	s, owner := kube.New(connect(t), cluster), storetest.Record(t, 1).Owner
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envHold+"="+owner, envConfig+"="+testfleet.Get().Kubeconfig())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("the other process: %q %v", line, err)
	}
	if _, err := s.Lock(t.Context(), owner, "bob", time.Minute); !errors.Is(err, release.ErrLocked) {
		t.Fatalf("error %v while the other process lives", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	lock, err := s.Lock(t.Context(), owner, "bob", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if held := lock.Recovered(); held == nil || !strings.Contains(held.Holder, "ann@laptop pid ") {
		t.Errorf("recovered %v", held)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// Whether a lock has expired does not depend on the clock of whoever holds it, nor on that of whoever wants it.
func TestLockOfAnotherClock(t *testing.T) {
	t.Parallel()
	leases := admin(t).CoordinationV1().Leases(object.SystemNamespace)
	for _, c := range []struct {
		name string
		skew time.Duration
	}{{"an hour behind", -time.Hour}, {"an hour ahead", time.Hour}} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s, owner := kube.New(connect(t), cluster), storetest.Record(t, 1).Owner
			holder, seconds, at := "carol@phone", int32(60), metav1.NewMicroTime(time.Now().Add(c.skew))
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "hawser-" + owner},
				Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &at, RenewTime: &at}}
			if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			_, err := s.Lock(t.Context(), owner, "bob", time.Minute)
			locked, ok := errors.AsType[*release.LockedError](err)
			if !ok {
				t.Fatalf("error %v, want that it is locked", err)
			}
			if left := time.Until(locked.Expires); left < -10*time.Minute || left > 10*time.Minute {
				t.Errorf("expires in %s", left)
			}
			if _, err := leases.Patch(t.Context(), lease.Name, types.MergePatchType, []byte(`{"spec":{"leaseDurationSeconds":2}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			var lock release.Lock
			for end := time.Now().Add(2 * time.Minute); lock == nil; time.Sleep(200 * time.Millisecond) {
				if lock, err = s.Lock(t.Context(), owner, "bob", time.Minute); err != nil && (!errors.As(err, &locked) || time.Now().After(end)) {
					t.Fatal(err)
				}
			}
			if held := lock.Recovered(); held == nil || held.Holder != holder {
				t.Errorf("recovered %v", held)
			}
			if err := lock.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// When renewing does not work, the context ends when a third of the lock's time is left.
func TestLockThatCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 3 * time.Second
		start := time.Now()
		lock, err := kube.New(liar{later: "no answer"}, cluster).Lock(t.Context(), "owner", "ann", ttl)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-lock.Context().Done():
		case <-time.After(2 * ttl):
			t.Fatal("the context goes on")
		}
		if took := time.Since(start); took < ttl/3 || took > ttl-ttl/6 {
			t.Errorf("ended after %s, want about %s", took, ttl-ttl/3)
		}
		if cause := lockCause(lock); !errors.Is(cause, release.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		_ = lock.Unlock(t.Context())
	})
}
