package helm

import (
	"context"
	"sync"
	"testing"
)

// heldContext stops whoever asks it for its error until it is released, and has ended by then.
type heldContext struct {
	context.Context
	once         sync.Once
	asked, ended chan struct{}
}

func (c *heldContext) Done() <-chan struct{} { return c.ended }

func (c *heldContext) Err() error {
	c.once.Do(func() { close(c.asked) })
	<-c.ended
	return context.Canceled
}

// TestCancelledReadIsNobodyElses: who waits for a chart that another one reads has it, also when that one is cancelled.
func TestCancelledReadIsNobodyElses(t *testing.T) {
	req := request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "chart/templates/a.yaml": "a: b\n"})
	r := New(Options{})
	first := &heldContext{Context: t.Context(), asked: make(chan struct{}), ended: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.read(first, req); err == nil {
			t.Error("a cancelled read succeeds")
		}
	})
	<-first.asked
	begun := make(chan struct{})
	wg.Go(func() {
		close(begun)
		if _, err := r.read(t.Context(), req); err != nil {
			t.Errorf("another one's end answers for it: %v", err)
		}
	})
	<-begun
	close(first.ended)
	wg.Wait()
}

// TestChartsAreBounded: charts are kept by their bytes.
func TestChartsAreBounded(t *testing.T) {
	c := newCharts()
	for i := range 10 {
		if _, err := c.Get(t.Context(), string(rune('a'+i)), func() (*loaded, error) { return &loaded{bytes: maxChartBytes / 2}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if c.Len() != 4 {
		t.Errorf("%d charts of half the limit are kept", c.Len())
	}
}
