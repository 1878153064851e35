package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testfleet"
)

// TestFirstApplyOfManyObjects compares a first apply with a bare loop of as many parallel applies in the same run. The
// budget is 1.3 times the loop (docs/performance.md), measured by the benchmarks on a quiet machine; here it must not be
// another order of magnitude, unless the machine had more to do just then.
func TestFirstApplyOfManyObjects(t *testing.T) {
	var ratio float64
	for range 3 {
		if ratio = firstApplyOverLoop(t); ratio <= 5 {
			return
		}
	}
	t.Errorf("ratio %.2f", ratio)
}

func firstApplyOverLoop(t *testing.T) float64 {
	const n = 300
	f, s := testfleet.Get(), connect(t)
	many := func(ns string) []object.Object {
		var text []string
		for i := range n {
			text = append(text, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%03d, namespace: NS}\ndata: {x: abc}", i))
		}
		return objs(t, ns, strings.Join(text, "\n---\n"))
	}
	bare := many(f.Namespace(t, one))
	for i, o := range bare {
		bare[i] = o.Marked("bare", "bare") // the same objects, labels and all
	}
	cfg := f.RESTConfig(one)
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	slots := make(chan struct{}, 32)
	var wg sync.WaitGroup
	for _, o := range bare {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if _, err := client.Resource(configMaps).Namespace(o.Ref().Namespace).Apply(context.Background(), o.Ref().Name, o.Unstructured(),
				metav1.ApplyOptions{FieldManager: "bare"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	loop := time.Since(start)
	b := newBundle(t)
	ours := many(f.Namespace(t, one))
	start = time.Now()
	r := b.apply(t, s, ours...)
	if r.Done.Create != n {
		t.Errorf("%+v", r.Done)
	}
	ratio := float64(time.Since(start)) / float64(loop)
	t.Logf("%d objects: bare loop %s, observe + execute %s, ratio %.2f", n, loop, time.Since(start), ratio)
	return ratio
}
