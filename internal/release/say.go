package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hawser.dev/hawser/internal/decision"
	"hawser.dev/hawser/internal/diag"
)

// What can be said about a release.
const (
	Approve = "approve"
	Pause   = "pause"
	Resume  = "resume"
	Abort   = "abort"
)

// OnCluster is where one cluster stands, for what is said about a release: its record and its hold, nil for none. Wave is its wave, as people
// call it, where nothing comes to that without an approval.
type OnCluster struct {
	Cluster, Unreachable, Wave string
	Record                     *Record
	Hold                       *Hold
}

// Meant is what is said something about: the release by its number or rollout, "" for the newest one (of paused ones the newest), and the wave by
// its number, 0 for the one that waits. Unasked: nobody is shown what that is before it is said.
type Meant struct {
	Release string
	Wave    int
	Unasked bool
}

// Look reads what keeps releases from the cluster, where it answers. What cannot be read there as nobody wrote it is a matter of that cluster alone.
func (c *OnCluster) Look(ctx context.Context, store Store, owner string) diag.Findings {
	h, _, err := HeldOn(ctx, store, owner)
	c.Hold = h
	fs := diag.From(err, "record")
	if len(fs) == 1 && fs[0].Code == CodeDamagedHold {
		c.Unreachable, fs = fs[0].What+" ("+fs[0].Why+"): "+fs[0].Fix, nil
	}
	return fs
}

// has reports whether the release has come to the cluster, as far as it was to: one that failed, or that nobody could look at after its soak, is
// applied again.
func (c OnCluster) has(rollout string) bool {
	return c.Record != nil && c.Record.Rollout == rollout && !c.Record.Phase.Open() && !c.Record.undecided()
}

// came reports whether the release has come to the cluster, or a newer one has.
func (c OnCluster) came(h Hold) bool {
	return c.has(h.Rollout) || h.Release > 0 && c.Record.Number() > h.Release
}

// passed reports whether nothing of a release is left to come to the cluster: it has, a newer one has, or it changes nothing there: its files do not, or the
// cluster stands where it goes back to, or has nothing. While it is under way elsewhere that is not known, and it never is where the cluster keeps a word about it.
func (c OnCluster) passed(h Hold, underWay bool) bool {
	older := c.Record != nil && cmp.Or(c.Record.Number()-h.Release, c.Record.Started.Compare(h.Since)) < 0
	stays := older && (c.Record.Unchanged(h.SourceDigest, h.RollbackTo != nil) || c.Record.Phase.Complete() && h.RollbackTo.Reached(*c.Record))
	return c.came(h) || !underWay && (c.Hold == nil || c.Hold.Rollout != h.Rollout) && (stays || c.Record == nil && h.RollbackTo != nil)
}

// lacks reports whether the cluster waits for the release, or may: it does not answer.
func (c OnCluster) lacks(rollout string) bool {
	return c.Unreachable != "" || c.Hold != nil && c.Hold.Rollout == rollout && !c.has(rollout)
}

// Saying is what somebody said of a release, and on which clusters that stands. Its JSON form is public.
type Saying struct {
	V      int    `json:"v"` // 1
	Verb   string `json:"verb"`
	Bundle string `json:"bundle"`
	// Release, Rollout, Author, Message and Since are those of the release; Wave is what it waits to come to.
	Release int       `json:"release"`
	Rollout string    `json:"rollout"`
	Author  string    `json:"author,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Wave    string    `json:"wave,omitempty"`
	Word    Word      `json:"word"`
	// Already: the wave was approved before, and Word is that approval; nothing is written.
	Already bool `json:"already,omitempty"`
	// Clusters are those on which it is to stand, and those that did not answer.
	Clusters []SaidOn `json:"clusters"`
	// Still is the release of the bundle that stays paused after this one was resumed: no run goes on before that is, too.
	Still *Waiting `json:"still,omitempty"`

	about Hold
	over  bool // it has come to every cluster that waited for what is approved already
}

// Shown is how to see what the release delivers.
func (s *Saying) Shown() string {
	return fmt.Sprintf("What it delivers: hawser history show %d --bundle %s", s.Release, s.Bundle)
}

// SaidOn is one cluster of a Saying.
type SaidOn struct {
	Cluster string `json:"cluster"`
	// Done: it stands there. Else Problem says why not, or Unreachable why the cluster does not answer.
	Done        bool   `json:"done"`
	Problem     string `json:"problem,omitempty"`
	Unreachable string `json:"unreachable,omitempty"`
}

// Say is the verb, said about the release of a bundle that is meant. Nothing is done yet on any cluster. The findings say why there is nothing
// to be said. What was approved before is Already.
func Say(verb, bundle string, meant Meant, word Word, clusters []OnCluster) (*Saying, diag.Findings) {
	clusters = inWave(clusters, meant.Wave)
	about, findings := subject(verb, bundle, meant, clusters)
	approved := verb == Approve && about.Approved != nil && about.Aborted == nil
	if findings.HasErrors() && !approved {
		return nil, because(findings[0], clusters)
	}
	s := &Saying{V: diag.DocumentVersion, Verb: verb, Bundle: bundle, Release: about.Release, Rollout: about.Rollout, Author: about.Author, Message: about.Message,
		Since: about.Since, Wave: about.Wave, Word: word, about: about}
	if approved {
		return s.already(clusters), nil
	}
	said, barred := false, ""
	underWay := slices.ContainsFunc(clusters, func(c OnCluster) bool { return c.Record.Of(about.Rollout) && !c.has(about.Rollout) })
	if waves := about.unapproved(clusters, underWay); verb == Approve && meant.Unasked && meant.Wave == 0 && len(waves) > 1 {
		return nil, diag.Findings{severalWaves(bundle, about, waves)}
	}
	for _, c := range clusters {
		next, _ := s.On(c.Hold)
		switch why := s.bars(c.Hold); {
		case c.Unreachable != "":
			s.Clusters = append(s.Clusters, SaidOn{Cluster: c.Cluster, Unreachable: c.Unreachable})
		case next != nil && !c.passed(about, underWay):
			s.Clusters, said = append(s.Clusters, SaidOn{Cluster: c.Cluster}), true
		case why != "" && !c.passed(about, underWay) && (verb == Pause || verb == Abort): // On says so again
			s.Clusters, barred = append(s.Clusters, SaidOn{Cluster: c.Cluster}), why
		}
	}
	if !said {
		f := nothing(verb, bundle, about)
		if barred != "" {
			f.Why, f.Fix = barred, "say it of that one, or take its pause back with hawser resume "+bundle+"; hawser history "+bundle+" shows which releases there are"
		}
		return nil, because(f, clusters)
	}
	if verb == Resume {
		s.Still = cmp.Or(Await(bundle, slices.DeleteFunc(slices.Clone(clusters), func(c OnCluster) bool {
			return c.Hold == nil || c.Hold.Rollout == about.Rollout || c.Hold.Paused == nil || c.Hold.Aborted != nil
		}))...)
	}
	return s, nil
}

// because adds to the Why of a finding which clusters were asked, and why others were not.
func because(f diag.Finding, clusters []OnCluster) diag.Findings {
	var asked, away []string
	for _, c := range clusters {
		if c.Unreachable != "" {
			away = append(away, "cluster "+c.Cluster+" does not answer: "+c.Unreachable)
		} else {
			asked = append(asked, c.Cluster)
		}
	}
	if n := len(asked); n > maxAsked {
		asked = append(asked[:maxAsked], "and "+diag.Counted(n-maxAsked, "other"))
	}
	if len(asked) > 0 {
		f.Why += " (asked: " + strings.Join(asked, ", ") + ")"
	}
	if f.Why = strings.TrimPrefix(strings.Join(append([]string{f.Why}, away...), "; "), "; "); len(away) > 0 {
		f.Fix = "say it again when the others answer, as nobody knows what waits there; else " + f.Fix
	}
	return diag.Findings{f}
}

// Away is how many of the clusters did not answer.
func Away(clusters []OnCluster) int {
	return len(slices.DeleteFunc(slices.Clone(clusters), func(c OnCluster) bool { return c.Unreachable == "" }))
}

// maxAsked bounds how many clusters are named.
const maxAsked = 10

// On is a cluster's hold with what is said, nil where nothing is to be said. An error says why it cannot be said there any more, and who was
// faster.
func (s *Saying) On(h *Hold) (*Hold, error) {
	as, told := s.about, h.Decisions()
	as.Wave, as.Approved, as.Paused, as.Aborted = "", nil, nil, nil
	switch {
	case s.Verb == Approve && h != nil && h.Rollout == s.Rollout && h.Wave != "" && h.Wave != s.Wave: // that is a question of its own
		return nil, errors.New(h.Wave + " waits there now")
	case h != nil && h.Rollout == s.Rollout:
		as = *h
	case s.bars(h) != "":
		return nil, errors.New(s.bars(h))
	case s.Verb == Abort && h.isNewer(s.Release):
		return s.beside(*h, told)
	case s.Verb != Pause && s.Verb != Abort && h != nil:
		return nil, fmt.Errorf("release %s waits there now", h.name())
	case s.Verb != Pause && s.Verb != Abort:
		return nil, nil
	}
	switch {
	case as.say(s.Verb, s.Word):
		as.Told = decision.Add(told, as.title(), decision.Decision{Verb: participle[s.Verb], Wave: as.Wave, Word: s.Word})
		return &as, nil
	case s.stands(as):
		return nil, nil
	}
	return nil, errors.New(nothing(s.Verb, s.Bundle, as).Why)
}

// stands reports whether a hold has the very word that is said, as after an answer that was lost.
func (s *Saying) stands(h Hold) bool {
	word := map[string]*Word{Approve: h.Approved, Pause: h.Paused, Abort: h.Aborted}[s.Verb]
	return (s.Verb == Abort || h.Aborted == nil) && (s.Verb == Resume || word != nil && word.Is(s.Word))
}

// bars is why nothing is said of the release on a cluster whose hold is another one's, "" where it may be: a pause holds the whole bundle
// until it is taken back, and what is said of another release must not take its place.
func (s *Saying) bars(h *Hold) string {
	switch {
	case h == nil || h.Rollout == s.Rollout || h.Aborted != nil || s.Verb == Abort && h.isNewer(s.Release):
		return ""
	case h.Paused == nil && s.Verb == Pause && h.isNewer(s.Release):
		return "release " + h.name().String() + ", a newer one, waits there now"
	}
	return h.Stops(s.Rollout)
}

// isNewer reports whether the hold is about a release that came after the one of a number: what is said of the older one takes not its place.
func (h *Hold) isNewer(release int) bool { return h != nil && h.Release >= release }

// beside is the hold of a newer release with the abort of the one that is meant, which a run of that at work elsewhere heeds.
func (s *Saying) beside(h Hold, told []decision.Told) (*Hold, error) {
	switch _, word := h.GaveUp(s.Rollout); {
	case word != nil && word.Is(s.Word):
		return nil, nil
	case word != nil:
		return nil, errors.New("it was aborted " + word.String())
	}
	h.Told = decision.Add(told, s.about.title(), decision.Decision{Verb: decision.Aborted, Word: s.Word})
	return &h, nil
}

// End says what became of a cluster.
func (c *SaidOn) End(err error, redact func(string) string) {
	if c.Done = err == nil; err != nil {
		c.Problem = redact(err.Error())
	}
}

// Missed is the number of clusters on which it does not stand.
func (s *Saying) Missed() int {
	return len(slices.DeleteFunc(slices.Clone(s.Clusters), func(c SaidOn) bool { return c.Done }))
}

// Then is what to do next where it stands: tip, but for a release that is approved and paused, which goes on after it is resumed, and for one
// that is resumed and waits for an approval.
func (s *Saying) Then(tip string) string {
	switch {
	case s.over:
		return "It has come to every cluster that waited for that: hawser status " + s.Bundle + " shows how it is there."
	case s.Verb == Approve && s.about.Paused != nil:
		return fmt.Sprintf("It is paused %s. hawser resume %s lets it go on.", s.about.Paused, s.Bundle)
	case s.Verb == Resume && s.about.Wave != "" && s.about.Approved == nil:
		return fmt.Sprintf("It waits for an approval of %s: hawser approve %s", s.about.Wave, s.Bundle)
	}
	return tip
}

// About names the release, and who made it when.
func (s *Saying) About() string {
	return fmt.Sprintf("Release %s of %s, by %s since %s", s.about.name(), s.Bundle, cmp.Or(s.Author, "somebody"), s.Since.UTC().Format(time.RFC3339))
}

// For names what it is for: the wave that waits, where it is for that alone, and the clusters.
func (s *Saying) For() string {
	var names []string
	for _, c := range s.Clusters {
		if c.Unreachable == "" {
			names = append(names, c.Cluster)
		}
	}
	// of what is given up clusters of other waves are among them
	return strings.TrimPrefix(map[bool]string{false: s.Wave + ": "}[s.Verb == Abort], ": ") + strings.Join(names, ", ")
}

// name is that of the release of the hold.
func (h *Hold) name() *Name { return &Name{Release: h.Release, Rollout: h.Rollout} }

// say notes a word and reports whether that changes anything.
func (h *Hold) say(verb string, word Word) bool {
	switch {
	case h.Aborted != nil:
		return false
	case verb == Approve && h.Wave != "" && h.Approved == nil:
		h.Approved = &word
	case verb == Pause && h.Paused == nil:
		h.Paused = &word
	case verb == Resume && h.Paused != nil:
		h.Paused = nil
	case verb == Abort:
		h.Aborted = &word
	default:
		return false
	}
	return true
}

// subject is the release that a verb is about.
func subject(verb, bundle string, meant Meant, clusters []OnCluster) (Hold, diag.Findings) {
	all := known(clusters)
	if meant.Release != "" {
		named := slices.DeleteFunc(slices.Clone(all), func(h Hold) bool { return h.Rollout != meant.Release && strconv.Itoa(h.Release) != meant.Release })
		if len(named) > 1 {
			return Hold{}, diag.Findings{ambiguous(bundle, meant.Release, named)}
		}
		if len(named) == 1 {
			return named[0], said(verb, bundle, named[0], meant.Wave)
		}
		f := diag.Errorf("no-such-release", "no cluster waits for release %s of %s, or has it as its newest", meant.Release, bundle)
		if f.Why = "there is nothing to " + verb; len(all) > 0 {
			f.Why += ": the newest is " + all[0].name().String()
		}
		f.Fix = "hawser history " + bundle + " shows those there are"
		return Hold{}, diag.Findings{f}
	}
	for _, h := range all { // the newest that it fits, so that nobody approves what is over
		if h.fits(verb) {
			return h, nil
		}
		if verb != Resume {
			return h, said(verb, bundle, h, meant.Wave)
		}
	}
	if len(all) > 0 {
		return all[0], said(verb, bundle, all[0], meant.Wave)
	}
	f := diag.Errorf("no-release", "no cluster has a release of %s, and none waits for it", bundle)
	f.Why = "there is nothing to " + verb
	f.Fix = "hawser list shows the bundles there are; check --fleet and the selection"
	return Hold{}, diag.Findings{f}
}

// ambiguous refuses a number that several releases bear, which runs that went to different clusters have made.
func ambiguous(bundle, number string, named []Hold) diag.Finding {
	f := diag.Errorf("ambiguous-release", "%d releases of %s have the number %s", len(named), bundle, number)
	var which []string
	for _, h := range named {
		which = append(which, fmt.Sprintf("%s by %s since %s", h.Rollout, cmp.Or(h.Author, "somebody"), h.Since.UTC().Format(time.RFC3339)))
	}
	f.Why = "they came from runs that went to different clusters: " + strings.Join(which, "; ")
	f.Fix = "name the one that is meant by its rollout: " + named[0].Rollout
	return f
}

// known are the releases that clusters have or wait for, newest first, each with all that was said of it on any cluster.
func known(clusters []OnCluster) []Hold {
	byRollout := map[string]*Hold{}
	for _, c := range clusters {
		if r := c.Record; r != nil && r.Rollout != "" && byRollout[r.Rollout] == nil {
			byRollout[r.Rollout] = &Hold{Bundle: r.Bundle, Release: r.Number(), Rollout: r.Rollout, SourceDigest: r.SourceDigest, Author: r.Author, Message: r.Message, Since: r.Started, RollbackTo: r.RollbackTo}
		}
	}
	for _, c := range clusters {
		if h := c.Hold; h != nil {
			as := byRollout[h.Rollout]
			if as == nil {
				as = &Hold{Bundle: h.Bundle, Release: h.Release, Rollout: h.Rollout, SourceDigest: h.SourceDigest, Author: h.Author, Message: h.Message, Since: h.Since, RollbackTo: h.RollbackTo}
				byRollout[h.Rollout] = as
			}
			as.merge(c.word(*h))
		}
	}
	var out []Hold
	for _, h := range byRollout {
		for _, c := range clusters {
			if _, word := c.Hold.GaveUp(h.Rollout); word != nil && h.Aborted == nil {
				h.Aborted = word
			}
		}
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b Hold) int {
		return cmp.Or(b.Release-a.Release, b.Since.Compare(a.Since), strings.Compare(a.Rollout, b.Rollout))
	})
	return out
}

// word is what a hold says of the clusters that its release has still to come to: a pause is over where it came, and so is an approval
// that nobody has given there.
func (c OnCluster) word(h Hold) Hold {
	if c.has(h.Rollout) {
		h.Paused = nil
	}
	if c.came(h) && h.Approved == nil {
		h.Wave = ""
	}
	return h
}

// merge adds what was said on another cluster: the release is approved where it is everywhere that it waits, aborted and paused where
// it is anywhere.
func (h *Hold) merge(other Hold) {
	// it waits to come where it was not approved, and of what was the last wave counts
	if later := waveNumber(other.Wave) > waveNumber(h.Wave); other.Wave != "" && (h.Wave == "" || h.Approved != nil && (other.Approved == nil || later)) {
		h.Wave, h.Approved = other.Wave, other.Approved
	}
	h.Paused, h.Aborted = cmp.Or(other.Paused, h.Paused), cmp.Or(other.Aborted, h.Aborted)
}

// fits reports whether the verb has anything to say about the release.
func (h Hold) fits(verb string) bool { return h.say(verb, Word{}) }

// said refuses what cannot be said any more, with who has said what; wave is the number of the one that is meant, 0 for any.
func said(verb, bundle string, h Hold, wave int) diag.Findings {
	if h.fits(verb) {
		return nil
	}
	f := nothing(verb, bundle, h)
	if wave > 0 && h.Aborted == nil {
		f.Why = fmt.Sprintf("wave %d waits for no approval", wave)
	}
	return diag.Findings{f}
}

// nothing says why a verb has nothing to do for a release.
func nothing(verb, bundle string, h Hold) diag.Finding {
	f := diag.Errorf("nothing-to-"+verb, "release %s of %s cannot be %s", h.name(), bundle, participle[verb])
	switch {
	case h.Aborted != nil:
		f.Why = "it was aborted " + h.Aborted.String()
		f.Fix = "apply it again: that is a new release, which waits for an approval of its own"
	case verb == Approve && h.Approved != nil:
		f.Why = fmt.Sprintf("%s was approved already %s", h.Wave, h.Approved)
		f.Fix = "hawser apply goes on with it"
	case verb == Approve:
		f.Why = "it waits for no approval"
		f.Fix = "hawser apply asks for one when it comes to a wave with approval: manual; hawser history " + bundle + " shows where it is"
	case verb == Pause && h.Paused != nil:
		f.Why = "it was paused already " + h.Paused.String()
		f.Fix = "hawser resume " + bundle + " lets it go on"
	case verb == Resume:
		f.Why = "nobody has paused it"
		f.Fix = "hawser history " + bundle + " shows where it is"
	default:
		f.Why = "it has come to every cluster that was asked"
		f.Fix = "hawser rollback " + bundle + " goes back to the one before"
	}
	return f
}

var participle = map[string]string{Approve: decision.Approved, Pause: decision.Paused, Resume: decision.Resumed, Abort: decision.Aborted}
