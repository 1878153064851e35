package release

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// One cluster, or a few, do not number the releases of the others; what only one knows, and what nobody contradicts, counts.
func TestCounted(t *testing.T) {
	const far = MaxNumber - 1
	for name, c := range map[string]struct {
		numbers []int
		want    int
	}{
		"none":                           {nil, 0},
		"no record anywhere":             {[]int{0, 0}, 0},
		"one cluster":                    {[]int{far}, far},
		"one, and new ones":              {[]int{40000, 0, 0, 0}, 40000},
		"together":                       {[]int{41, 41, 40}, 41},
		"one far ahead":                  {[]int{41, far, 41}, 41},
		"one as far as may be":           {[]int{41, 41 + maxLeap, 41}, 41 + maxLeap},
		"one a little further":           {[]int{41, 42 + maxLeap, 41}, 41},
		"two of five, who agree":         {[]int{41, far, 40, far, 39}, 41},
		"two of five, who do not":        {[]int{41, far, 40, far / 2, 39}, 41},
		"one against one":                {[]int{41, far}, far},
		"two against two":                {[]int{41, 41, far, far}, far},
		"most are ahead, one is behind":  {[]int{far, far, 3}, far},
		"one behind, most, one far away": {[]int{3, 20000, 20001, far}, 20001},
	} {
		if got := Counted(c.numbers); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The number of a release is what most clusters say it is.
func TestAgreed(t *testing.T) {
	for name, c := range map[string]struct {
		numbers []int
		want    int
	}{
		"none": {nil, 0}, "of before the numbers": {[]int{0, 0}, 0}, "one": {[]int{7}, 7}, "all": {[]int{7, 7, 0}, 7},
		"one says more": {[]int{7, MaxNumber, 7}, 7}, "one says less": {[]int{7, 1, 7}, 7}, "nobody can tell": {[]int{MaxNumber, 7}, 7},
	} {
		if got := Agreed(c.numbers); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// What does not count is said, with its cluster as it was asked and not as its record says.
func TestLeaping(t *testing.T) {
	lying := &Record{Cluster: "b", Release: MaxNumber, Revision: 2}
	records := []*Record{{Cluster: "a", Release: 41}, lying.On("c"), {Cluster: "b", Release: 40}, nil}
	if got := Leaping(records); len(got) != 1 || got[0].Cluster != "c" || !strings.Contains(got[0].What, fmt.Sprintf("release %d, and what other clusters have ends at 41", MaxNumber)) {
		t.Errorf("%+v", got)
	}
	if got := Leaping(records[:1]); got != nil || lying.Cluster != "b" || (*Record)(nil).On("x") != nil {
		t.Errorf("%+v", got)
	}
}

func TestContinues(t *testing.T) {
	rec := func(number int, head string, phase Phase) *Record {
		return &Record{Release: number, SourceDigest: head, Phase: phase, Rollout: "theirs"}
	}
	next := Record{SourceDigest: "new", Phase: Applying, Rollout: "own"}
	deleting := next
	deleting.Phase = Deleting
	back := func(to int) Record {
		r := next
		r.RollbackTo = &Name{Release: to}
		return r
	}
	backAt := func(number, to int) *Record {
		r := rec(number, "new", Succeeded)
		r.RollbackTo = &Name{Release: to}
		return r
	}
	failed := func(r *Record) *Record { r.Phase = Failed; return r }
	open := func(r *Record) *Record { r.Phase = Applying; return r }
	headed := func(head string, r *Record) *Record { r.SourceDigest = head; return r }
	of := func(plan string, r *Record) *Record { r.PlanFile = plan; return r }
	saved := func(r Record) Record { r.PlanFile = "plan"; return r }
	learned := func(r *Record) *Record { r.Learned = "new"; return r }
	for name, c := range map[string]struct {
		next           Record
		selected, left []*Record
		number         int
		rollout        string
	}{
		"first":                              {next, []*Record{nil, nil}, nil, 1, "own"},
		"all":                                {next, []*Record{rec(3, "old", Succeeded), nil}, nil, 4, "own"},
		"the next wave":                      {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 4, "theirs"},
		"the next wave, first time":          {next, []*Record{nil}, []*Record{rec(1, "new", Written), nil}, 1, "theirs"},
		"changed meanwhile":                  {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(4, "other", Succeeded)}, 5, "own"},
		"the first wave failed":              {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(4, "new", Failed)}, 5, "own"},
		"the newest has learned the files":   {next, []*Record{rec(3, "old", Succeeded)}, []*Record{learned(rec(4, "other", Succeeded))}, 5, "own"},
		"in it already":                      {next, []*Record{rec(4, "new", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 5, "own"},
		"went until the first wave":          {next, []*Record{rec(4, "new", Succeeded).On("settled"), rec(3, "old", Succeeded)}, nil, 4, "theirs"},
		"until it, and drifted since":        {next, []*Record{rec(4, "new", Succeeded), rec(3, "old", Succeeded)}, nil, 5, "own"},
		"one is in it already":               {next, []*Record{rec(4, "new", Failed), rec(3, "old", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 5, "own"},
		"the others are behind":              {next, []*Record{rec(6, "old", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 7, "own"},
		"the rollback's next wave":           {back(1), []*Record{rec(3, "old", Succeeded)}, []*Record{backAt(4, 1)}, 4, "theirs"},
		"applied after a rollback":           {next, []*Record{rec(3, "old", Succeeded)}, []*Record{backAt(4, 1)}, 5, "own"},
		"another rollback":                   {back(2), []*Record{rec(3, "old", Succeeded)}, []*Record{backAt(4, 1)}, 5, "own"},
		"the rollback's own wave failed":     {back(1), []*Record{failed(backAt(4, 1)), rec(3, "old", Succeeded)}, nil, 4, "theirs"},
		"the rollback's other wave failed":   {back(1), []*Record{rec(3, "old", Succeeded)}, []*Record{failed(backAt(4, 1))}, 4, "theirs"},
		"the rollback died":                  {back(1), []*Record{rec(3, "old", Succeeded), open(backAt(4, 1))}, nil, 4, "theirs"},
		"it went back, and moved since":      {back(1), []*Record{backAt(4, 1), rec(3, "old", Succeeded)}, nil, 5, "own"},
		"the rollback's first wave is there": {back(1), []*Record{backAt(4, 1).On("settled"), rec(3, "old", Succeeded)}, nil, 4, "theirs"},
		"a rollback over other files":        {back(1), []*Record{rec(3, "old", Succeeded)}, []*Record{headed("other", backAt(4, 1))}, 4, "theirs"},
		"applied since the rollback's wave":  {back(1), []*Record{rec(5, "old", Succeeded)}, []*Record{backAt(4, 1)}, 6, "own"},
		"the saved plan died":                {saved(next), []*Record{rec(3, "old", Succeeded), of("plan", open(rec(4, "new", Applying)))}, nil, 4, "theirs"},
		"the saved plan failed":              {saved(next), []*Record{of("plan", rec(4, "new", Succeeded)).On("settled"), of("plan", failed(rec(4, "new", Failed)))}, nil, 4, "theirs"},
		"another saved plan died":            {saved(next), []*Record{rec(3, "old", Succeeded), of("other", rec(4, "new", Applying))}, nil, 5, "own"},
		"deleted":                            {deleting, []*Record{rec(3, "new", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 5, "own"},
		"a damaged one":                      {next, []*Record{rec(3, "old", Succeeded), rec(MaxNumber, "old", Succeeded), rec(2, "old", Succeeded)}, nil, 4, "own"},
		"a damaged one that is left":         {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(MaxNumber-1, "new", Succeeded), rec(4, "new", Succeeded)}, 4, "theirs"},
		"records of before the numbers":      {next, []*Record{{Revision: 2, SourceDigest: "old"}}, []*Record{{Revision: 9, SourceDigest: "x", Phase: Succeeded}}, 10, "own"},
	} {
		if number, rollout := Continues(c.next, c.selected, c.left, func(cluster string) bool { return cluster == "settled" }); number != c.number || rollout != c.rollout {
			t.Errorf("%s: %d %s, want %d %s", name, number, rollout, c.number, c.rollout)
		}
	}
}

// TestFirstTry: the releases in a row that brought the same files and failed are one try after another; what others brought in between, or
// what ended well, begins anew. What was approved for the first of them is approved for the last, also where none of them came.
func TestFirstTry(t *testing.T) {
	on := func(number, first int, files string, phase Phase) *Record {
		return &Record{Release: number, FirstTry: first, Rollout: files + strconv.Itoa(number), SourceDigest: files, Phase: phase}
	}
	for name, c := range map[string]struct {
		records []*Record
		want    int
	}{
		"nothing before":           {nil, 7},
		"the one before failed":    {[]*Record{on(6, 6, "x", Failed), on(3, 3, "w", Succeeded), nil}, 6},
		"and the one before that":  {[]*Record{on(6, 4, "x", Failed)}, 4},
		"as older versions say it": {[]*Record{on(6, 0, "x", Failed)}, 6},
		"it died":                  {[]*Record{on(6, 4, "x", Applying)}, 4},
		"it ended well":            {[]*Record{on(6, 4, "x", Succeeded)}, 7},
		"nobody could look at it":  {[]*Record{{Release: 6, FirstTry: 4, Rollout: "x6", SourceDigest: "x", Phase: Written, Unjudged: true}}, 4},
		"nobody waited":            {[]*Record{on(6, 4, "x", Written)}, 7},
		"it goes on":               {[]*Record{on(7, 4, "x", Succeeded)}, 4},
		"others came in between":   {[]*Record{on(6, 6, "y", Failed), on(5, 4, "x", Failed)}, 7},
		"two of one number":        {[]*Record{on(6, 4, "x", Failed), on(6, 6, "y", Failed)}, 7},
	} {
		r := Record{Release: 7, Rollout: "x7", SourceDigest: "x"}
		if got := r.firstTry(c.records); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	hold := &Hold{Bundle: "shop", Release: 4, Rollout: "x4", SourceDigest: "x", Wave: "wave 2", Approved: ann}
	for first, want := range map[int]bool{0: false, 4: true, 3: true, 5: false} {
		r := Record{Release: 7, Rollout: "x7", SourceDigest: "x", FirstTry: first}
		if got := (Holds{"b": hold}).Approval("b", "wave 2", on(2, 2, "w", Succeeded), r); (got != nil) != want {
			t.Errorf("tried since %d: %v", first, got)
		}
	}
}
