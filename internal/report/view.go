package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rollout"
)

// view is what the live block shows, built from events alone; lines is a function of it and the time.
type view struct {
	st       Style
	cols     int // of the terminal, 0 for no limit
	schedule rollout.Schedule
	clusters map[string]*track
	order    []*track
	waves    []*waveTrack

	connected, rendered, instances, compared int
	began, rolling                           time.Time
	rollout                                  string
	total                                    int
	stopped                                  string
	said                                     string
}

// track is one cluster's progress.
type track struct {
	name        string
	wave        int
	canary      bool
	start, end  time.Time
	done, total int
	object      *object.Ref
	waiting     bool
	message     string
	since       time.Time // since when object is waited for
	status      string    // of the end
}

// waveTrack is one wave's progress.
type waveTrack struct {
	number     int
	name       string
	start, end time.Time
	soakFrom   time.Time
	soakUntil  time.Time
}

// take folds one event in.
func (v *view) take(e fleetplan.Event) {
	if v.began.IsZero() {
		v.began = e.Time
	}
	switch e.Type {
	case fleetplan.EventConnected:
		v.connected++
	case fleetplan.EventRendered:
		v.rendered, v.instances = e.Done, e.Total
	case fleetplan.EventObserved:
		v.compared++
	case fleetplan.EventRollout:
		v.rollout, v.total, v.rolling = e.Rollout, e.Total, e.Time
	case fleetplan.EventWave:
		if n := len(v.waves); n > 0 && v.waves[n-1].end.IsZero() {
			v.waves[n-1].end = e.Time
		}
		v.waves = append(v.waves, &waveTrack{number: e.Wave, name: e.Message, start: e.Time})
	case fleetplan.EventSoak:
		if w := v.wave(); w != nil && w.soakUntil.IsZero() {
			w.soakFrom, w.soakUntil = e.Time, e.Until
		}
	case fleetplan.EventStop:
		v.stopped = fmt.Sprintf("Stopping: %s. Finishing what is in flight (%d), starting nothing more.", strings.TrimSuffix(e.Message, "."), e.Done)
	case fleetplan.EventClusterStart, fleetplan.EventWritten, fleetplan.EventWaiting, fleetplan.EventReady, fleetplan.EventObjectFailed, fleetplan.EventClusterEnd:
		v.takeCluster(e)
	}
}

func (v *view) takeCluster(e fleetplan.Event) {
	t := v.clusters[e.Cluster]
	if t == nil {
		t = &track{name: e.Cluster, wave: e.Wave, start: e.Time}
		for _, m := range v.schedule.Members {
			t.canary = t.canary || m.Cluster == e.Cluster && m.Canary
		}
		v.clusters[e.Cluster] = t
		v.order = append(v.order, t)
	}
	switch e.Type {
	case fleetplan.EventClusterStart:
		t.total = e.Total
	case fleetplan.EventWritten:
		t.done, t.total, t.object, t.message, t.waiting = e.Done, max(e.Total, t.total), e.Object, "", false
	case fleetplan.EventWaiting:
		if t.object == nil || e.Object == nil || *t.object != *e.Object || !t.waiting {
			t.since = e.Time
		}
		t.object, t.message, t.waiting = e.Object, waitedFor(e), true
	case fleetplan.EventReady:
		if t.object != nil && e.Object != nil && *t.object == *e.Object {
			t.message = "ready"
		}
	case fleetplan.EventObjectFailed:
		t.object, t.message, t.waiting = e.Object, e.Message, false
	case fleetplan.EventClusterEnd:
		t.status, t.end = e.Status, e.Time
		if t.failed() && t.object == nil || t.message == "" {
			t.message = e.Message
		}
		if w := v.wave(); w != nil && w.number == e.Wave && v.ended(e.Wave) == v.size(e.Wave) {
			w.end = e.Time
		}
	}
}

func (t *track) failed() bool {
	return t.status != "" && t.status != string(fleetplan.Succeeded) && t.status != string(fleetplan.UpToDate)
}

func (v *view) wave() *waveTrack {
	if len(v.waves) == 0 {
		return nil
	}
	return v.waves[len(v.waves)-1]
}

// size is the number of clusters of a wave; without a schedule the ones seen.
func (v *view) size(wave int) int {
	if n := len(membersOf(v.schedule, wave)); n > 0 {
		return n
	}
	return v.count(func(t *track) bool { return t.wave == wave })
}

func (v *view) ended(wave int) int {
	return v.count(func(t *track) bool { return t.wave == wave && t.status != "" })
}

func (v *view) running() int { return v.count(func(t *track) bool { return t.status == "" }) }

func (v *view) count(is func(*track) bool) int {
	n := 0
	for _, t := range v.order {
		if is(t) {
			n++
		}
	}
	return n
}

// lines is the block at a time, at most rows-1 lines high; last leaves out what has no meaning after the end.
func (v *view) lines(now time.Time, rows int, last bool) []string {
	if v.rolling.IsZero() {
		if last || v.began.IsZero() {
			return nil
		}
		parts := []string{fmt.Sprintf("%d connected", v.connected)}
		if v.instances > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", count(v.rendered, "render"), count(v.instances, "instance")))
		}
		if v.compared > 0 {
			parts = append(parts, fmt.Sprintf("%d compared", v.compared))
		}
		return []string{"Planning: " + strings.Join(parts, ", ") + "  " + whole(now.Sub(v.began))}
	}
	var out []string
	for _, w := range v.waves {
		out = append(out, v.waveLine(w, now))
	}
	room := 12
	if rows > 0 {
		room = min(room, rows-len(out)-5)
	}
	out = append(out, v.active(now, max(room, 1), last)...)
	if v.stopped != "" {
		out = append(out, v.st.paint(yellow, v.stopped))
	}
	if !last {
		out = append(out, v.footer(now))
		if v.said != "" {
			out = append(out, v.st.paint(yellow, v.said))
		}
	}
	if rows > 1 && len(out) > rows-1 {
		out = out[len(out)-(rows-1):]
	}
	return out
}

// waveLine is "wave 2 production   canary ✓ production-eu-1 38 s, soaked 2m00s".
func (v *view) waveLine(w *waveTrack, now time.Time) string {
	longest := 0
	for i := range v.schedule.Waves {
		longest = max(longest, width(waveName(v.schedule, i+1)))
	}
	line := fmt.Sprintf("wave %d %s   ", w.number, pad(w.name, longest))
	ended, size := v.ended(w.number), v.size(w.number)
	if !w.end.IsZero() {
		mark := v.st.paint(green, v.st.pick("✓", "ok"))
		if v.count(func(t *track) bool { return t.wave == w.number && t.failed() }) > 0 {
			mark = v.st.paint(red, v.st.pick("✗", "x"))
		}
		return line + fmt.Sprintf("%s %d/%d   %s", mark, ended, size, whole(w.end.Sub(w.start)))
	}
	var parts []string
	for _, t := range v.order {
		if t.wave == w.number && t.canary {
			text := "canary " + v.mark(t) + " " + t.name
			if !t.end.IsZero() {
				text += " " + whole(t.end.Sub(t.start))
			}
			parts = append(parts, text)
		}
	}
	switch {
	case w.soakUntil.IsZero():
	case now.Before(w.soakUntil):
		parts = append(parts, fmt.Sprintf("soaking, %s left", whole(w.soakUntil.Sub(now))))
	default:
		parts = append(parts, "soaked "+clock(w.soakUntil.Sub(w.soakFrom)))
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", ended, size))
	}
	return line + strings.Join(parts, ", ")
}

func (v *view) mark(t *track) string {
	switch {
	case t.status == "":
		return v.st.paint(cyan, v.st.pick("◐", "~"))
	case t.failed():
		return v.st.paint(red, v.st.pick("✗", "x"))
	}
	return v.st.paint(green, v.st.pick("✓", "ok"))
}

// active are the lines of clusters that failed or are being worked on, failures first.
func (v *view) active(now time.Time, room int, last bool) []string {
	var list []*track
	for _, t := range v.order {
		if t.failed() || t.status == "" && !last {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *track) int {
		switch {
		case a.failed() == b.failed():
			return 0
		case a.failed():
			return -1
		}
		return 1
	})
	names := 0
	for _, t := range list {
		names = max(names, width(t.name))
	}
	var out []string
	for i, t := range list {
		if i == room && len(list) > room {
			out = append(out, fmt.Sprintf("  %s %d more", v.st.dot(), len(list)-i))
			break
		}
		head := fmt.Sprintf("  %s %s  %s  ", v.mark(t), pad(t.name, names), pad(t.written(), 10))
		fits := func(text string) bool { return v.cols <= 0 || width(head+clean(text)) < v.cols }
		out = append(out, head+clean(t.doing(now, v.st, fits)))
	}
	if last {
		return out
	}
	if w := v.wave(); w != nil {
		if n := v.size(w.number) - v.count(func(t *track) bool { return t.wave == w.number }); n > 0 {
			out = append(out, fmt.Sprintf("  %s %d waiting", v.st.dot(), n))
		}
	}
	return out
}

// written is "3 of 5" while writing, "5 written" after.
func (t *track) written() string {
	if t.done < t.total {
		return fmt.Sprintf("%d of %d", t.done, t.total)
	}
	return fmt.Sprintf("%d written", t.done)
}

// doing names the one object the cluster is at, and how long it is waited for.
func (t *track) doing(now time.Time, st Style, fits func(string) bool) string {
	text := ""
	if t.object != nil {
		text = t.object.String()
	}
	switch {
	case t.failed():
		return fleetplan.Doing(text, t.message, "", fits)
	case t.waiting:
		return fleetplan.Doing(text, t.message, whole(now.Sub(t.since)), fits)
	case text == "":
		return "connecting"
	}
	return text + " " + st.ellipsis()
}

// footer counts the whole rollout: "7/12 clusters, 1 failed, 3 running  2m41s".
func (v *view) footer(now time.Time) string {
	ended := v.count(func(t *track) bool { return t.status != "" })
	text := fmt.Sprintf("%d/%d clusters", ended, v.total)
	if n := v.count((*track).failed); n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if n := v.running(); n > 0 {
		text += fmt.Sprintf(", %d running", n)
	}
	return v.st.paint(dim, text+"  "+whole(now.Sub(v.rolling)))
}
