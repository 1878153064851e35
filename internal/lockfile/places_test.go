package lockfile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlaces: what runs where is kept over writes and reads, and a cluster that left the fleet is named until everything
// was withdrawn from it or it is forgotten.
func TestPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Clusters["prod"] = map[string]string{"eu": "u1", "us": "u2", "old": "u3"}
	eu := Place{Context: "ctx-eu"}
	if !f.Deliver("prod", "eu", "shop", eu) || !f.Deliver("prod", "eu", "base", eu) || f.Deliver("prod", "eu", "shop", eu) {
		t.Error("news of a delivery are told wrong")
	}
	f.Deliver("prod", "us", "shop", Place{Context: "ctx-us", Kubeconfig: "us.yaml"})
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	if f, err = Read(path); err != nil {
		t.Fatal(err)
	}
	left := func(declared, uids string) string {
		var out []string
		for _, l := range f.LeftOf("prod", strings.Fields(declared), strings.Fields(uids)) {
			out = append(out, fmt.Sprintf("%s %s %v %s %t", l.Name, l.UID, l.Place.Bundles, l.Place.Context, l.Known))
		}
		return strings.Join(out, "; ")
	}
	for _, tt := range []struct{ declared, uids, want string }{
		{"eu us old", "", ""},
		{"us old", "", "eu u1 [base shop] ctx-eu true"},
		{"us europe old", "u1", ""}, // renamed
		{"eu us", "", "old u3 []  false"},
	} {
		if got := left(tt.declared, tt.uids); got != tt.want {
			t.Errorf("declared %q, uids %q: left %q, want %q", tt.declared, tt.uids, got, tt.want)
		}
	}
	if !f.Withdraw("prod", "us", "shop") || f.Withdraw("prod", "us", "shop") || f.Withdraw("prod", "nowhere", "shop") {
		t.Error("news of a withdrawal are told wrong")
	}
	if got := left("eu old", ""); got != "" {
		t.Errorf("nothing runs on us any more, and it is named: %s", got)
	}
	if !f.Forget("prod", "eu") || f.Forget("prod", "eu") || left("us old", "") != "" || f.UID("prod", "eu") != "" {
		t.Error("a forgotten cluster is known")
	}
}

// TestDelivered: of a fleet each cluster is known; without one the bundle's lineage tells.
func TestDelivered(t *testing.T) {
	f := File{Lineages: map[string]string{"shop": "1"}, Places: map[string]map[string]Place{"prod": {"a": {Bundles: []string{"shop"}}}}}
	if !f.Delivered("prod", "a", "shop") || f.Delivered("prod", "b", "shop") || f.Delivered("prod", "a", "other") ||
		!f.Delivered("", "context", "shop") || f.Delivered("", "context", "other") {
		t.Error("what was delivered is told wrongly")
	}
}
