package health

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestGivenUp: what is given up on a cluster is refused there, and after two checks everything is; on others nothing, unless the check
// itself is endless: then three clusters are enough.
func TestGivenUp(t *testing.T) {
	const limit = time.Second
	on := func(cluster, source string) Check { return Check{Name: source, Source: source, Cluster: cluster} }
	var g GivenUp
	why := func(c Check) string {
		if err := g.Why(c, limit); err != nil {
			return err.Error()
		}
		return ""
	}
	for i := range 100 { // hostile records of a hundred clusters
		for n := range 2 {
			g.Add(on(fmt.Sprint("hostile", i), fmt.Sprintf("endless%d-%d", i, n)), errors.New("too long"))
		}
	}
	for _, c := range []struct{ cluster, source, want string }{
		{"hostile1", "endless1-0", "too long"}, {"hostile1", "module", "2 others were given up on this cluster"},
		{"honest", "module", ""}, {"honest", "endless1-0", ""},
	} {
		if got := why(on(c.cluster, c.source)); c.want == "" != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s on %s: %q", c.source, c.cluster, got)
		}
	}
	// objects of few clusters make a check of the module slow: those that are judged in time are judged on
	for i := range 4 {
		g.Done(on(fmt.Sprint("honest", i), "module"), time.Millisecond, limit)
	}
	for i := range 4 {
		g.Add(on(fmt.Sprint("large", i), "module"), errors.New("too long"))
	}
	if got := why(on("honest9", "module")) + why(on("honest1", "module")); got != "" {
		t.Error(got)
	}
	for i := range 3 { // one that is endless everywhere is
		if got := why(on(fmt.Sprint("c", i), "bad")); got != "" {
			t.Fatal(got)
		}
		g.Add(on(fmt.Sprint("c", i), "bad"), errors.New("too long"))
	}
	if got := why(on("honest", "bad")); !strings.Contains(got, "given up on 3 clusters") {
		t.Error(got)
	}
	for range 31 { // slow for each of many objects
		g.Done(on("honest", "slow"), limit/10+time.Millisecond, limit)
	}
	if got := why(on("honest", "slow")); !strings.Contains(got, "for some objects together") || why(on("other", "slow")) != "" {
		t.Error(got)
	}
	for i := range 5 { // rules of no cluster are refused one by one
		g.Add(on("", fmt.Sprint("vet", i)), errors.New("too long"))
	}
	if why(on("", "vet1")) == "" || why(on("", "vet9")) != "" {
		t.Error("rules of no cluster")
	}
}
