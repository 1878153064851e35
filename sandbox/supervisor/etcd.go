package supervisor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"

	"hawser.dev/hawser/sandbox/state"
)

// startEtcd starts the one etcd of a sandbox. Its clients reach it by a Unix socket in a private directory. It does
// not wait for the disk: what a sandbox holds need not survive a power cut, and writes are several times faster.
func startEtcd(dir state.Dir) (*embed.Etcd, error) {
	for _, socket := range []string{dir.EtcdSocket(), dir.EtcdPeerSocket()} {
		if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	client := url.URL{Scheme: "unix", Path: dir.EtcdSocket()}
	peer := url.URL{Scheme: "unix", Path: dir.EtcdPeerSocket()}
	cfg := embed.NewConfig()
	cfg.Name = "sandbox"
	cfg.Dir = dir.Path("etcd")
	cfg.ListenClientUrls, cfg.ListenPeerUrls = []url.URL{client}, []url.URL{peer}
	// What is advertised must have a port; nobody dials it, for there are no other members.
	nowhere := []url.URL{{Scheme: "http", Host: "localhost:1"}}
	cfg.AdvertiseClientUrls, cfg.AdvertisePeerUrls = nowhere, nowhere
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.EnableGRPCGateway = false
	cfg.QuotaBackendBytes = 8 << 30
	cfg.MaxRequestBytes = 4 << 20
	// A single member has nobody to beat for: slow ticks keep an idle sandbox idle.
	cfg.TickMs, cfg.ElectionMs = 250, 2500
	// Entries are kept in memory until a snapshot; followers that would want them do not exist.
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = 2000, 100
	cfg.LogLevel, cfg.LogOutputs = "error", []string{"stderr"}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, nil
	case err = <-e.Err():
	case <-time.After(30 * time.Second):
		err = errors.New("not ready after 30 s")
	}
	e.Close()
	return nil, fmt.Errorf("etcd: %w", err)
}

// forget deletes what etcd holds of a cluster, so that a later one of the same name begins empty.
func (s *Supervisor) forget(cluster string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	prefix := []byte("/" + cluster + "/")
	_, err := s.etcd.Server.DeleteRange(ctx, &etcdserverpb.DeleteRangeRequest{
		Key: prefix, RangeEnd: append(prefix[:len(prefix)-1:len(prefix)-1], '/'+1),
	})
	return err
}
