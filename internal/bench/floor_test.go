//go:build bench

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/testfleet"
)

// inFlight is the number of PATCHes the floor has in flight per API server: the product's default.
const inFlight = 32

// labels are those the product puts on its objects, so that both send and store the same.
func labels(bundle string) map[string]string {
	return map[string]string{"hawser.dev/owner": "0123456789abcdef0123456789abcdef", "hawser.dev/bundle": bundle, "hawser.dev/instance": "all"}
}

// connection is one HTTP/2 connection to one API server.
type connection struct {
	*rest.RESTClient
	close func()
}

func connect(t *testing.T, f *testfleet.Fleet, cluster string) connection {
	t.Helper()
	cfg := rest.CopyConfig(f.RESTConfig(cluster))
	cfg.QPS, cfg.Burst = -1, 0
	cfg.UserAgent = "hawser-bench"
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	cfg.Proxy = http.ProxyFromEnvironment // keeps client-go from sharing connections between clients
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rest.UnversionedRESTClientForConfigAndClient(cfg, hc)
	if err != nil {
		t.Fatal(err)
	}
	return connection{c, hc.CloseIdleConnections}
}

// floor applies the objects to every cluster, all clusters at once, and returns how long that took: connection and
// PATCHes, nothing else.
func floor(t *testing.T, f *testfleet.Fleet, clusters []string, namespace string, objects []configMap) time.Duration {
	t.Helper()
	bodies := make([][]byte, len(objects))
	for i, o := range objects {
		raw, err := json.Marshal(o.body(namespace, labels(namespace)))
		if err != nil {
			t.Fatal(err)
		}
		bodies[i] = raw
	}
	var wg sync.WaitGroup
	errs := make([]error, len(clusters))
	conns := make([]connection, len(clusters))
	for i, c := range clusters {
		conns[i] = connect(t, f, c)
	}
	start := time.Now()
	for i := range clusters {
		wg.Go(func() { errs[i] = patchAll(t.Context(), conns[i], namespace, objects, bodies) })
	}
	wg.Wait()
	took := time.Since(start)
	for i, c := range clusters {
		conns[i].close()
		if errs[i] != nil {
			t.Fatalf("floor on %s: %v", c, errs[i])
		}
	}
	return took
}

func patchAll(ctx context.Context, c connection, namespace string, objects []configMap, bodies [][]byte) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make(chan error, inFlight)
	for range inFlight {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(bodies)); i = next.Add(1) - 1 {
				path := fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", namespace, objects[i].name)
				req := c.Patch(types.ApplyPatchType).AbsPath(path).Param("fieldManager", "bench:0123456789abcdef0123456789abcdef").
					Param("force", "false").Body(bodies[i])
				if err := req.Do(ctx).Error(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// namespaces makes a namespace with a new name in the clusters. It stays: deleting one keeps the servers busy.
var lastNamespace atomic.Int64

func namespaceIn(t *testing.T, f *testfleet.Fleet, clusters []string, prefix string) string {
	t.Helper()
	name := fmt.Sprintf("%s-%x-%d", prefix, time.Now().UnixMilli()&0xffffffff, lastNamespace.Add(1))
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
	eachCluster(t, f, clusters, func(c connection) error {
		return c.Post().AbsPath("/api/v1/namespaces").Body(body).Do(t.Context()).Error()
	})
	return name
}

// empty deletes everything the bench puts into a namespace, so that later measurements find the servers as the
// earlier ones did.
func empty(t *testing.T, f *testfleet.Fleet, clusters []string, namespace string) {
	t.Helper()
	eachCluster(t, f, clusters, func(c connection) error {
		for _, path := range []string{"/api/v1/namespaces/%s/configmaps", "/api/v1/namespaces/%s/serviceaccounts",
			"/api/v1/namespaces/%s/services", "/apis/apps/v1/namespaces/%s/deployments",
			"/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles"} {
			err := c.Delete().AbsPath(fmt.Sprintf(path, namespace)).Param("labelSelector", "hawser.dev/owner").Do(t.Context()).Error()
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	})
}

func eachCluster(t *testing.T, f *testfleet.Fleet, clusters []string, do func(connection) error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(clusters))
	for i, name := range clusters {
		c := connect(t, f, name)
		wg.Go(func() {
			defer c.close()
			errs[i] = do(c)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%s: %v", clusters[i], err)
		}
	}
}
