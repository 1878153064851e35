package release

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestDecisionsStay: what was decided of releases stays noted when another release takes their place, is stored with the hold, keeps nothing
// back, and never makes a hold too large.
func TestDecisionsStay(t *testing.T) {
	var h *Hold
	say := func(verb, who, message string) {
		t.Helper()
		s, found := Say(verb, "shop", Meant{}, Word{By: who, At: noon, Message: message}, []OnCluster{{Cluster: "a", Hold: h}})
		if found.HasErrors() {
			t.Fatal(found)
		}
		next, err := s.On(h)
		if err != nil {
			t.Fatal(err)
		}
		h = next
	}
	wait := func(number int, rollout string) {
		t.Helper()
		next, err := Record{Bundle: "shop", Release: number, Rollout: rollout, SourceDigest: rollout, Started: noon}.Waiting("wave 1 (prod)", nil)(h)
		if err != nil {
			t.Fatal(err)
		}
		h = next
	}
	wait(1, "A")
	say(Approve, "ann", "a1")
	say(Pause, "bob", "p")
	say(Resume, "cat", "r")
	say(Abort, "dan", "corrupts orders, CHG-7")
	wait(2, "B")
	if h.Aborted != nil || h.Stops("B") != "" || h.Approved != nil {
		t.Errorf("the new one is kept back by %+v", h)
	}
	data, err := EncodeHold(*h, object.OwnerID("", "", "shop"))
	if err != nil {
		t.Fatal(err)
	}
	if h, err = DecodeHold(data, object.OwnerID("", "", "shop")); err != nil {
		t.Fatal(err)
	}
	all := h.Decisions()
	if len(all) != 1 || all[0].Release != 1 || len(all[0].Said) != 4 || !all[0].Aborted() {
		t.Fatalf("%+v", all)
	}
	var got []string
	for _, d := range all[0].Said {
		got = append(got, d.Verb+" "+d.Wave+" "+d.By+" "+d.Message)
	}
	if text := strings.Join(got, "; "); text != "approved wave 1 (prod) ann a1; paused  bob p; resumed  cat r; aborted  dan corrupts orders, CHG-7" {
		t.Error(text)
	}
	for i := range 40 {
		say(Pause, "bob", fmt.Sprint(i)+strings.Repeat("x", 4000))
		if data, err = EncodeHold(*h, object.OwnerID("", "", "shop")); err != nil {
			t.Fatal(i, err)
		}
		if h, err = DecodeHold(data, object.OwnerID("", "", "shop")); err != nil || h.Paused == nil || len(h.Told) == 0 {
			t.Fatal(i, err, h)
		}
		say(Resume, "cat", "")
	}
	if old := (&Hold{Bundle: "shop", Release: 3, Rollout: "C", Aborted: ann}).Decisions(); len(old) != 1 || !old[0].Aborted() {
		t.Errorf("of an earlier version's: %+v", old)
	}
}
