package release

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/decision"
)

// told is a hold of a newer release that knows of one which was aborted.
func told(release int, rollout string, aborted Hold) *Hold {
	return waiting(release, rollout, func(h *Hold) {
		h.Told = decision.Add(nil, aborted.title(), decision.Decision{Verb: decision.Aborted, Word: *ann})
	})
}

// TestAbortedStaysAborted: a release that was given up is that also where the hold is a newer one's by now: a run of it that is at work stops, it
// is not gone on with, and nobody pauses, resumes or approves it.
func TestAbortedStaysAborted(t *testing.T) {
	four := waiting(4, "D", nil)
	next, err := Record{Bundle: "shop", Release: 5, Rollout: "E", SourceDigest: "sha256:E"}.Waiting("wave 2 (production)", nil)(waiting(4, "D", func(h *Hold) { h.Aborted = ann }))
	if err != nil || next.Rollout != "E" || !strings.Contains(next.Stops("D"), "release 4 (D) was aborted by ann@laptop") || next.Stops("E") != "" {
		t.Fatalf("%+v, %v: %q", next, err, next.Stops("D"))
	}
	if back, err := (Record{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D"}).Waiting("wave 2 (production)", nil)(next); err == nil || !strings.Contains(err.Error(), "was aborted") {
		t.Errorf("it asks again: %+v, %v", back, err)
	}
	hs := Holds{"b": told(5, "E", *four)}
	if number, rollout, _ := hs.Continues(Record{Phase: Applying, Rollout: "NEW", SourceDigest: "sha256:D"}, []*Record{{Release: 4, Rollout: "D", SourceDigest: "sha256:D", Phase: Succeeded}}, nil, func(string) bool { return false }); rollout == "D" {
		t.Errorf("gone on with as %d (%s)", number, rollout)
	}
	on := []OnCluster{{Cluster: "a", Record: &Record{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D", Phase: Succeeded}}, {Cluster: "b", Hold: told(5, "E", *four)}}
	for _, verb := range []string{Pause, Resume, Approve, Abort} {
		if said, fs := Say(verb, "shop", Meant{Release: "4"}, Word{By: "bob"}, on); len(fs) != 1 || !strings.Contains(fs[0].Why, "it was aborted by ann@laptop") {
			t.Errorf("%s: %+v, %v", verb, said, fs)
		}
	}
}

// TestSayOfAnOlder: what is said of an older release does not take the place of a newer one that waits: its abort is noted beside that, and a pause
// is refused. Where a newer one has come nothing is left to be said.
func TestSayOfAnOlder(t *testing.T) {
	running := OnCluster{Cluster: "a", Record: &Record{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D", Phase: Applying, Started: noon}}
	newer := waiting(5, "E", func(h *Hold) { h.Approved = ann })
	said, fs := Say(Abort, "shop", Meant{Release: "4"}, Word{By: "bob", At: noon}, []OnCluster{running, {Cluster: "b", Hold: newer}})
	if fs.HasErrors() || len(said.Clusters) != 2 {
		t.Fatalf("%v, %+v", fs, said)
	}
	h, err := said.On(newer)
	if err != nil || h.Rollout != "E" || h.Approved == nil || h.Aborted != nil || h.Stops("E") != "" || !strings.Contains(h.Stops("D"), "was aborted by bob") {
		t.Fatalf("%+v, %v", h, err)
	}
	if again, err := said.On(h); again != nil || err != nil {
		t.Errorf("twice: %+v, %v", again, err)
	}
	said.Word.By = "eve"
	if again, err := said.On(h); again != nil || err == nil || !strings.Contains(err.Error(), "aborted by bob") {
		t.Errorf("somebody else was faster: %+v, %v", again, err)
	}
	if said, fs := Say(Pause, "shop", Meant{Release: "4"}, Word{By: "bob"}, []OnCluster{{Cluster: "a", Record: &Record{Release: 4, Rollout: "D", Phase: Succeeded}}, {Cluster: "b", Hold: newer}}); len(fs) != 1 || !strings.Contains(fs[0].Why, "release 5 (E), a newer one, waits there now") {
		t.Errorf("paused: %+v, %v", said, fs)
	}
	older, all := &Record{Release: 4, Rollout: "D", Phase: Succeeded}, &Record{Release: 5, Rollout: "E", Phase: Succeeded}
	for _, verb := range []string{Pause, Abort} {
		if said, fs := Say(verb, "shop", Meant{Release: "4"}, Word{By: "bob"}, []OnCluster{{Cluster: "a", Record: all}, {Cluster: "b", Record: older}, {Cluster: "c", Record: older}}); len(fs) != 1 {
			t.Errorf("%s of what came everywhere: %+v", verb, said)
		}
	}
}
