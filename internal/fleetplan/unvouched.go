package fleetplan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/commandline"
	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// CodeUnsealed is the code of findings about plan files that nothing vouches for.
const CodeUnsealed = "unsealed-plan"

// notCompared are the fields of a plan file that nobody vouches for which may be others than those of the plan computed now,
// and what they tell people. All fields that do not stand here are compared (TestEveryFieldIsComparedOrSaid).
var notCompared = map[string]string{
	"clusters.waits": "what a flag or a right lifts", "created": "when it was made", "stats": "what planning cost", "clusters.server": "addresses of API servers",
	"clusters.unreachable": "why a cluster did not answer", "schedule.members.unreachable": "why a cluster did not answer",
	"clusters.instances.pos": "places in files", "clusters.plan.changes.pos": "places in files", "clusters.plan.changes.fields.origin": "places in files",
	"clusters.plan.changes.fields.manager": "who set a value", "clusters.plan.changes.fields.since": "who set a value",
	"clusters.plan.changes.checked": "what a dry run said", "clusters.plan.changes.deferred": "what a dry run said",
	"findings": "what a flag or a right lifts", "clusters.plan.findings": "what a flag or a right lifts",
	"clusters.plan.changes.resourceVersion": "versions of objects", "clusters.plan.changes.applyHash": "versions of objects",
	"clusters.plan.changes.formerEntries": "versions of objects",
}

// elsewhere are the fields that Unvouched leaves to others: groups are made by whoever reads the file, changes compared by
// staleplan.Verify, findings as sets.
var elsewhere = map[string]string{"groups": "", "clusters.plan.changes": ""}

// lifted are the codes of findings that flags of apply, the rights of who applies, how they reach a cluster, or what answers now, lift.
var lifted = map[string]bool{"unreachable": true, "unconfirmed": true, "no-recorded-set": true, deletionguard.Code: true, rollout.CodeGate: true, rollout.CodeWindow: true, release.CodePaused: true,
	lineage.CodeTakenOver: true, "insecure-tls": true}

// unsealed is the warning of a file that nothing vouches for.
func unsealed(d Decided) diag.Finding {
	f := diag.Warnf(CodeUnsealed, "this plan file was not made by you on this machine: nothing vouches for what it shows")
	said := slices.Compact(slices.Sorted(maps.Values(notCompared)))
	f.Why = "apply compares it with a plan computed anew, and carries that out; not compared, and the word of whoever wrote the file: " + strings.Join(said, ", ")
	if flags := d.flags(); len(flags) > 0 {
		f.Why += "; it was made with " + strings.Join(flags, " ") + ", which counts only when it is given again"
	}
	f.Fix = strings.Join(append([]string{"hawser apply FILE"}, d.flags()...), " ")
	return f
}

func isUnsealed(f diag.Finding) bool { return f.Code == CodeUnsealed }

// Unsealed is the warning of a plan that was read from a file that nothing vouches for.
func (p *FleetPlan) Unsealed() diag.Findings {
	return slices.DeleteFunc(slices.Clone(p.Findings), func(f diag.Finding) bool { return !isUnsealed(f) })
}

// unvouched says in which fields a plan of a file that nobody vouches for is not the one that was computed now, beside the
// changes of its clusters.
func unvouched(old, now *FleetPlan) diag.Findings {
	words := maps.Clone(notCompared)
	maps.Copy(words, elsewhere)
	was, is := *old, *now
	was.Clusters, is.Clusters = nil, nil
	for i, cp := range now.Clusters {
		a, b := *old.Cluster(cp.Cluster), *cp
		if a.Plan == nil || b.Plan == nil || cp.Standing.Vouched() { // of one that is down, or where the file was carried out, there is nothing to compare
			a, b = a.bare(), b.bare()
			words["guard"] = ""
		}
		if old.Clusters[i].Cluster != cp.Cluster {
			return diag.Findings{staleplan.Stale("clusters[%d].cluster is %q in the file, and %q now", i, old.Clusters[i].Cluster, cp.Cluster)}
		}
		was.Clusters, is.Clusters = append(was.Clusters, &a), append(is.Clusters, &b)
	}
	differ := staleplan.Fields(was, is, words)
	differ = append(differ, said("findings", old.told(now), now.told(now))...)
	for i, cp := range is.Clusters {
		if cp.Plan != nil {
			differ = append(differ, said("clusters["+cp.Cluster+"].plan.findings", was.Clusters[i].Plan.Findings, cp.Plan.Findings)...)
		}
	}
	var out diag.Findings
	for _, what := range differ {
		out = append(out, staleplan.Stale("%s", what))
	}
	return out
}

// bare is the part of a cluster that says nothing of what is there.
func (c ClusterPlan) bare() ClusterPlan {
	return ClusterPlan{Cluster: c.Cluster, Group: c.Group, Wave: c.Wave, Canary: c.Canary, Unreachable: c.Unreachable, Later: c.Later}
}

// told are the findings of a plan without those of clusters that have none, or have been compared by their records now.
func (p *FleetPlan) told(now *FleetPlan) diag.Findings {
	return slices.DeleteFunc(slices.Clone(p.Findings), func(f diag.Finding) bool {
		cp, is := p.Cluster(f.Cluster), now.Cluster(f.Cluster)
		return isUnsealed(f) || f.Code == CodeGoesOn || cp != nil && cp.Plan == nil || is != nil && is.Standing.Vouched()
	})
}

// said compares findings, whatever their order and places, but for those that are lifted. What is merely explained may be new.
func said(field string, before, after diag.Findings) []string {
	texts := func(fs diag.Findings) map[string]diag.Finding {
		out := map[string]diag.Finding{}
		for _, f := range fs {
			if f.Pos = (diag.Pos{}); !lifted[f.Code] {
				data, _ := json.Marshal(f) // of texts alone
				out[string(data)] = f
			}
		}
		return out
	}
	var out []string
	is := func(f diag.Finding, here, there string) string {
		why := ""
		if f.Why != "" {
			why = " (" + f.Why + ")"
		}
		return fmt.Sprintf("%s has the %s %q%s %s, and not %s", field, f.Severity, f.What, why, here, there)
	}
	was, now := texts(before), texts(after)
	for _, text := range slices.Sorted(maps.Keys(was)) {
		if _, there := now[text]; !there {
			out = append(out, is(was[text], "in the file", "now"))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(now)) {
		if _, there := was[text]; !there && now[text].Severity != diag.Info {
			out = append(out, is(now[text], "now", "in the file"))
		}
	}
	return out
}

// lifts are the decisions that let a run do more than its files say, with their flags.
var lifts = map[string]string{"RuntimeFromEnv": "runtime-from-env", "Rotate": "rotate", "Adopt": "adopt", "TakeOver": "take-over", "AcceptClusters": "accept-cluster",
	"Recreate": "recreate", "LetUnserved": "let-unserved", "SkipWaves": "skip-waves", "NoHooks": "no-hooks", "ConfirmDelete": "confirm-delete"}

// Lifts reports whether a flag is one that may be given again beside a plan file.
func Lifts(flag string) bool { return slices.Contains(slices.Collect(maps.Values(lifts)), flag) }

// flags are those of a decision's that let a run do more than its files say, as they are typed.
func (d Decided) flags() []string {
	var out []string
	for field, flag := range lifts {
		if v := reflect.ValueOf(d).FieldByName(field); !v.IsZero() {
			out = append(out, typed(flag, v))
		}
	}
	slices.Sort(out)
	return out
}

func typed(flag string, v reflect.Value) string {
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Bool:
		return "--" + flag
	case reflect.Slice:
		text := ""
		for i := range v.Len() {
			text += " --" + flag + "=" + commandline.Quoted(v.Index(i).String())
		}
		return strings.TrimSpace(text)
	}
	return fmt.Sprintf("--%s=%v", flag, v.Interface())
}

// Repeated compares what a request's options let a run do beside a plan file with what the plan was made with: nothing else may be
// given, and of a file that nothing vouches for all of it has to be.
func (d Decided) Repeated(requested PlanOptions, seal planfile.Seal) (refused, mistaken diag.Findings) {
	r := Decided{PlanOptions: requested}
	for _, flag := range r.flags() {
		if !slices.Contains(d.flags(), flag) {
			f := diag.Errorf("plan-file", "a saved plan knows what it does and where: leave %s out", flag)
			f.Fix = "for a plan that does so, make another one: hawser plan -f BUNDLE " + flag + " --out FILE"
			mistaken = append(mistaken, f)
		}
	}
	for _, flag := range d.flags() {
		if seal != planfile.Sound && !slices.Contains(r.flags(), flag) {
			f := diag.Errorf(CodeUnsealed, "the plan file wants %s, and nothing vouches for the file", flag)
			f.Why = "it was not made by you on this machine: what lets a run do more has to be said by who applies it"
			f.Fix = "if that is meant: hawser apply FILE " + strings.Join(d.flags(), " ")
			refused = append(refused, f)
		}
	}
	return refused, mistaken
}
