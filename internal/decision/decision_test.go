package decision

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestAdd: decisions are kept of each release, the newest ones alone where they are too many, and the list that was there stays as it was.
func TestAdd(t *testing.T) {
	var list []Told
	for i := range most + 5 {
		before := fmt.Sprint(list)
		next := Add(list, Told{Release: i / 2, Rollout: fmt.Sprint("R", i/2)}, Decision{Verb: Paused, Wave: "wave 1", Word: Word{By: fmt.Sprint(i)}})
		if fmt.Sprint(list) != before {
			t.Fatal("the list changed")
		}
		list = next
	}
	n := 0
	for _, told := range list {
		n += len(told.Said)
	}
	if first, last := list[0].Said[0], list[len(list)-1]; n != most || first.By != "5" || first.Wave != "" || last.Said[0].By != fmt.Sprint(most+4) {
		t.Errorf("%d kept, from %+v to %+v", n, first, last)
	}
}

// TestWith: words that stand and that an earlier version did not note are told once.
func TestWith(t *testing.T) {
	at := time.Unix(9, 0)
	words := map[string]*Word{Approved: {By: "ann", At: at}, Aborted: {By: "bob", At: at.Add(1)}, Paused: nil}
	of := Told{Release: 2, Rollout: "B"}
	list := With(With(nil, of, "wave 2", words), of, "wave 2", words)
	if len(list) != 1 || len(list[0].Said) != 2 || list[0].Said[0].String() != "approved wave 2 by ann at 1970-01-01T00:00:09Z" || list[0].Said[1].Wave != "" || !list[0].Aborted() {
		t.Errorf("%+v", list)
	}
}

// TestFit: what is too large goes without its oldest decisions, and is refused only without any.
func TestFit(t *testing.T) {
	list := []Told{{Rollout: "A", Said: []Decision{{Verb: Paused}, {Verb: Aborted}}}, {Rollout: "B", Said: []Decision{{Verb: Aborted}}}}
	out, err := Fit(&list, func() ([]byte, error) {
		if len(list) > 1 {
			return nil, errors.New("too large")
		}
		return []byte(list[0].Rollout), nil
	})
	if string(out) != "B" || err != nil {
		t.Error(string(out), err)
	}
	if _, err := Fit(&list, func() ([]byte, error) { return nil, errors.New("too large") }); err == nil {
		t.Error("nothing is left to go")
	}
	said := []Decision{{Verb: Aborted}}
	if got := Sound([]Told{{Rollout: "A", Release: 9, Said: said}, {Release: 2, Said: said}, {Rollout: "B", Release: 2}, {Rollout: "C", Release: 3, Said: said}}, 5); len(got) != 1 || got[0].Rollout != "C" {
		t.Error(got)
	}
}

// TestGranted: approvals of a wave are added once each, however often a run comes by, and one word for all clusters of which it goes past the wave.
func TestGranted(t *testing.T) {
	at := time.Unix(9, 0)
	by := func(who string) *Approval { return &Approval{Wave: "wave 2", Word: Word{By: who, At: at}} }
	var got []Approval
	for pass := range 3 {
		skipped := Approval{Wave: "wave 2", Word: Word{By: "ci", At: at.Add(time.Duration(pass)), Message: "--skip-approvals"}}
		got = Granted(got, []*Approval{by("ann"), nil, by("bob"), by("ann"), nil}, skipped)
		if len(got) != 3 || got[0].By != "ann" || got[1].By != "ci" || !got[1].At.Equal(at) || got[2].By != "bob" {
			t.Errorf("pass %d: %+v", pass, got)
		}
	}
	if got = Granted(got, []*Approval{{Wave: "wave 3", Word: by("ann").Word}}, Approval{}); len(got) != 4 {
		t.Errorf("another wave: %+v", got)
	}
}
