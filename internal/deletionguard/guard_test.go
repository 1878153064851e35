package deletionguard

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// ref reads "Deployment api/name": kind and instance, then the name.
func ref(text string) (object.Ref, string) {
	kind, rest, _ := strings.Cut(text, " ")
	instance, name, _ := strings.Cut(rest, "/")
	r := object.Ref{Kind: kind, Namespace: "ns", Name: name}
	switch kind {
	case "Deployment", "StatefulSet", "DaemonSet":
		r.Group = "apps"
	case "Job", "CronJob":
		r.Group = "batch"
	case "CustomResourceDefinition":
		r.Group, r.Namespace = "apiextensions.k8s.io", ""
	case "Namespace":
		r.Namespace = ""
	}
	return r, instance
}

// cluster is one whose record has some objects, and where others are declared: what is no longer declared is deleted.
func cluster(had, declared string) Cluster {
	c := Cluster{Name: "c1", Plan: &plan.Plan{}}
	placed, stays := map[string]bool{}, map[object.Ref]bool{}
	for _, text := range split(declared) {
		if name, alone := strings.CutPrefix(text, "placed "); alone {
			c.Placed, placed[name] = append(c.Placed, name), true
			continue
		}
		r, instance := ref(text)
		stays[r] = true
		c.Declared = append(c.Declared, plan.Desired{Ref: r, Instance: instance})
		if !placed[instance] {
			c.Placed, placed[instance] = append(c.Placed, instance), true
		}
	}
	for _, text := range split(had) {
		r, instance := ref(text)
		c.Inventory = append(c.Inventory, plan.InventoryEntry{Ref: r, Instance: instance, UID: "u"})
		if !stays[r] {
			c.Plan.Changes = append(c.Plan.Changes, plan.Change{Action: plan.Delete, Ref: r, Instance: instance})
		}
	}
	return c
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

func TestOnCluster(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("Service app/s%d", i))
	}
	for name, tt := range map[string]struct{ had, declared, want string }{
		"nothing goes":                      {"Deployment api/a", "Deployment api/a", ""},
		"one of several":                    {"ConfigMap api/a, ConfigMap api/b", "ConfigMap api/a", ""},
		"more than half, but few":           {"ConfigMap api/a, ConfigMap api/b, ConfigMap api/c", "ConfigMap api/a", ""},
		"more than half of many":            {strings.Join(many, ", ") + ", Service app/x", "Service app/x", "deletes 12 of the 13 objects"},
		"a Namespace":                       {"Namespace api/team, Service api/s", "Service api/s", "deletes Namespace team"},
		"all dear ones are named":           {"Namespace api/team, PersistentVolumeClaim api/data, CustomResourceDefinition api/w.x.dev, Service api/s", "Service api/s", "deletes Namespace team, PersistentVolumeClaim ns/data, CustomResourceDefinition w.x.dev"},
		"everything of an instance":         {"Service api/a, Service db/d", "Service api/b, Service db/d", "everything instance api has there is replaced by other things: Service ns/a goes"},
		"renders nothing":                   {"Service api/a, Service db/d", "placed api, Service db/d", "instance api renders nothing any more, and the 1 it has there go"},
		"an instance that left the bundle":  {"Service api/a, Service db/d", "Service db/d", ""},
		"every workload of an instance":     {"Deployment api/a, Service api/s", "Deployment api/b, Service api/s", "every workload instance api has there goes: Deployment ns/a"},
		"its workload is no longer there":   {"Deployment api/a, Service api/s", "Service api/s", "every workload instance api has there goes: Deployment ns/a"},
		"one of two workloads":              {"Deployment api/a, Deployment api/b", "Deployment api/b", ""},
		"everything of the bundle":          {"Service old/a", "Service new/b", "everything the bundle has there is replaced by other things: Service ns/a goes"},
		"every workload of the bundle":      {"Deployment old/a, Service net/s", "Deployment new/b, Service net/s", "every workload the bundle has there goes: Deployment ns/a"},
		"a cluster that lost its placement": {"Deployment api/a", "", ""},
		"a generated ConfigMap":             {"ConfigMap api/env-abc12", "ConfigMap api/env-ff034", ""},
		"two of an instance":                {"Service api/a, Service api/c, Service db/d", "Service api/b, Service db/d", "everything instance api has there is replaced by other things: Service ns/a, Service ns/c go"},
		"another Secret of the same words":  {"Secret api/app-credentials", "Secret api/app-tls", "everything instance api has there is replaced by other things: Secret ns/app-credentials goes"},
		"the next Job":                      {"Job api/migrate-1", "Job api/migrate-2", ""},
		"a Deployment has no successor":     {"Deployment api/web-1", "Deployment api/web-2", "everything instance api"},
	} {
		t.Run(name, func(t *testing.T) {
			got := OnCluster(cluster(tt.had, tt.declared))
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestOnClusterByChange(t *testing.T) {
	db := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "ns", Name: "db"}
	other := plan.InventoryEntry{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "x"}, Instance: "x"}
	for name, tt := range map[string]struct {
		ch   plan.Change
		want string
	}{
		"a StatefulSet with claims":         {plan.Change{Action: plan.Delete, Ref: db, Claims: true}, "deletes StatefulSet ns/db, which makes volume claims"},
		"a StatefulSet without":             {plan.Change{Action: plan.Delete, Ref: db}, ""},
		"one recreated":                     {plan.Change{Action: plan.Recreate, Ref: db, Claims: true, Loss: "its pods"}, "and creates it again; lost by that: its pods"},
		"one that is let go":                {plan.Change{Action: plan.Release, Ref: db, Claims: true}, ""},
		"one whose fields were taken":       {plan.Change{Action: plan.Delete, Ref: db, TakenBy: "kubectl-edit"}, "deletes StatefulSet ns/db, of which kubectl-edit has taken fields"},
		"one that is recreated anyway":      {plan.Change{Action: plan.Recreate, Ref: object.Ref{Kind: "Service", Name: "s"}, TakenBy: "kubectl-edit"}, ""},
		"a hook's claim":                    {plan.Change{Action: plan.Delete, Ref: object.Ref{Kind: "PersistentVolumeClaim", Name: "tmp"}, Hook: &plan.HookTask{}}, ""},
		"somebody else's kind of that name": {plan.Change{Action: plan.Delete, Ref: object.Ref{Group: "x.dev", Kind: "Namespace", Name: "n"}}, ""},
	} {
		c := Cluster{Plan: &plan.Plan{Changes: []plan.Change{tt.ch}}, Inventory: []plan.InventoryEntry{{Ref: tt.ch.Ref}, other}}
		if got := OnCluster(c); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	var hooks []plan.Change
	for i := range 2 * minimum {
		hooks = append(hooks, plan.Change{Action: plan.Delete, Hook: &plan.HookTask{}, Ref: object.Ref{Kind: "ConfigMap", Name: fmt.Sprint(i)}})
	}
	if got := OnCluster(Cluster{Plan: &plan.Plan{Changes: hooks}}); got != "" {
		t.Errorf("hooks are counted: %s", got)
	}
}

// TestOnFleet: an instance that loses its last place is told from one that has another on a cluster that is not selected
// or did not answer.
func TestOnFleet(t *testing.T) {
	left := cluster("Deployment api/a, Service net/s", "Service net/s")
	left.NotPlaced = map[string]string{"api": "no label tier=web"}
	runs := cluster("Deployment api/a", "Deployment api/a")
	runs.Name = "c2"
	for name, tt := range map[string]struct {
		clusters  []Cluster
		elsewhere map[string]bool
		want      string
	}{
		"placed nowhere":                  {[]Cluster{left}, nil, "instance api is placed on no cluster any more, and the 1 objects it has go"},
		"placed on one not asked":         {[]Cluster{left}, map[string]bool{"api": true}, ""},
		"another has a place elsewhere":   {[]Cluster{left}, map[string]bool{"net": true}, "instance api is placed on no cluster"},
		"placed on another selected one":  {[]Cluster{left, runs}, nil, ""},
		"nothing is placed anywhere":      {[]Cluster{cluster("Service api/a", "")}, nil, "nothing of the bundle is placed on any selected cluster any more"},
		"nothing here, something there":   {[]Cluster{cluster("Service api/a", ""), runs}, nil, ""},
		"what a cluster alone would want": {[]Cluster{{Name: "c3", Plan: &plan.Plan{Brake: "deletes Namespace x"}}}, nil, "on cluster c3: deletes Namespace x"},
	} {
		if got := strings.Join(OnFleet(tt.clusters, tt.elsewhere), "; "); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	n := func(i int) *int { return &i }
	for _, tt := range []struct {
		why       []string
		confirmed *int
		want      string
	}{
		{nil, nil, ""}, {[]string{"x"}, n(3), ""}, {[]string{"x", "y"}, nil, "the plan deletes 3 objects"},
		{[]string{"x"}, n(2), "--confirm-delete=2 does not match: the plan deletes 3 objects"},
	} {
		fs := Check(tt.why, 3, tt.confirmed)
		if (tt.want == "") != (len(fs) == 0) || len(fs) > 0 && (!strings.Contains(fs[0].What, tt.want) || !strings.Contains(fs[0].Fix, "--confirm-delete=3")) {
			t.Errorf("%v confirmed %v: %v", tt.why, tt.confirmed, fs)
		}
	}
}

// TestCheckNumber: any number but that of the deletions is refused.
func TestCheckNumber(t *testing.T) {
	n := func(i int) *int { return &i }
	// a number that is given is the number, whether the deletions need one or not
	for _, tt := range []struct {
		why       []string
		deletes   int
		confirmed *int
		what, fix string
	}{
		{nil, 6, nil, "", ""}, {nil, 6, n(6), "", ""}, {nil, 0, nil, "", ""}, {nil, 0, n(0), "", ""}, {[]string{"x"}, 0, n(0), "", ""},
		{nil, 6, n(12), "--confirm-delete=12 does not match: the plan deletes 6 objects", "--confirm-delete=6"},
		{nil, 6, n(0), "--confirm-delete=0 does not match: the plan deletes 6 objects", "--confirm-delete=6"},
		{nil, 1, n(2), "the plan deletes 1 object", "--confirm-delete=1"},
		{nil, 0, n(12), "--confirm-delete=12 does not match: the plan deletes nothing", "leave --confirm-delete out"},
		{[]string{"x"}, 0, n(12), "the plan deletes nothing", "leave --confirm-delete out"},
	} {
		fs := Check(tt.why, tt.deletes, tt.confirmed)
		if (tt.what == "") != (len(fs) == 0) || len(fs) > 0 && (fs[0].Code != Code || fs[0].Severity != diag.Error || !strings.Contains(fs[0].What, tt.what) || !strings.HasSuffix(fs[0].Fix, tt.fix)) {
			t.Errorf("%d deleted, %v confirmed: %v", tt.deletes, tt.confirmed, fs)
		}
	}
	if fs := Check([]string{"x"}, 1, nil); len(fs) != 1 || !strings.Contains(fs[0].What, "deletes 1 object,") {
		t.Error(fs)
	}
}

// TestRequired: who requires what is deleted is named, with where it runs; a plan that deletes nothing needs no number.
func TestRequired(t *testing.T) {
	on := []Requiring{{"eu", []string{"two"}}, {"us", []string{"shop", "two"}}, {}}
	why := Required(on)
	if len(why) != 2 || !strings.HasPrefix(why[0], "bundle shop requires it, and runs on us") || !strings.HasPrefix(why[1], "bundle two requires it, and runs on eu, us") {
		t.Errorf("%q", why)
	}
	if fs := Check(why, 4, nil); len(fs) != 1 || !strings.Contains(fs[0].Fix, "--confirm-delete=4") {
		t.Errorf("%v", fs)
	}
	if fs := Check(why, 0, nil); fs != nil {
		t.Errorf("nothing goes: %v", fs)
	}
	if Required(nil) != nil {
		t.Error("nobody requires it")
	}
}

// What is known by its marks alone may be somebody else's: deleting it needs the number, of an apply and of a delete.
func TestMarksAlone(t *testing.T) {
	r, _ := ref("ConfigMap web/a")
	for from, want := range map[string]string{"": "", "Helm release x": "", plan.ByMarks: "marks alone"} {
		p := &plan.Plan{Changes: []plan.Change{{Ref: r, Action: plan.Delete, From: from}, {Ref: r, Action: plan.Release, From: plan.ByMarks}}}
		why, whole := OnCluster(Cluster{Name: "c1", Plan: p}), strings.Join(Unsure("c1", p), "; ")
		for _, got := range []string{why, whole} {
			if (got == "") != (want == "") || !strings.Contains(got, want) || want != "" && (!strings.Contains(got, "ConfigMap ns/a") || !strings.Contains(got, object.LabelOwner)) {
				t.Errorf("%q: %s", from, got)
			}
		}
	}
}
