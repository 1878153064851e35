package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/promotion"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
)

// enums are the values of the string types in the documents.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[plan.Action](): words(plan.Create, plan.Update, plan.Delete, plan.Recreate, plan.Adopt, plan.Conflict,
		plan.Unknown, plan.Unchanged, plan.Release),
	reflect.TypeFor[fleetplan.EventType](): words(fleetplan.EventConnected, fleetplan.EventRendered, fleetplan.EventObserved, fleetplan.EventRollout,
		fleetplan.EventWave, fleetplan.EventClusterStart, fleetplan.EventWritten, fleetplan.EventWaiting, fleetplan.EventReady, fleetplan.EventObjectFailed,
		fleetplan.EventClusterEnd, fleetplan.EventSoak, fleetplan.EventStop, fleetplan.EventNotice, fleetplan.EventSummary),
	reflect.TypeFor[fleetplan.Result](): words(fleetplan.Succeeded, fleetplan.Failed, fleetplan.NotStarted, fleetplan.Unreachable, fleetplan.UpToDate, fleetplan.Interrupted, fleetplan.Waiting),
	reflect.TypeFor[diag.Severity]():    words(diag.Error, diag.Warning, diag.Info),
	reflect.TypeFor[health.State]():     words(health.Ready, health.Progressing, health.Failed, health.Missing, health.Terminating),
	reflect.TypeFor[source.Verdict]():   words(source.Current, source.Behind, source.Moved, source.Beyond, source.Loose, source.Edited, source.Unknown),
	reflect.TypeFor[history.State](): words(history.Applying, history.Deleting, history.Ejecting, history.Succeeded, history.Written, history.Failed, history.Partial, history.Pending,
		history.Superseded, history.Interrupted),
	reflect.TypeFor[drift.State]():   words(drift.Changed, drift.Gone, drift.Leaving, drift.Replaced, drift.Unmarked, drift.Taken, drift.Settled),
	reflect.TypeFor[promotion.How](): words(promotion.Pinned, promotion.Edited, promotion.Local),
	reflect.TypeFor[rollout.Phase](): words(rollout.Waiting, rollout.Running, rollout.Succeeded, rollout.Failed, rollout.NotStarted),
}

func words[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// schemaOf describes a type's JSON; unknown fields stay allowed, because fields may be added within a version.
func schemaOf(t reflect.Type) map[string]any {
	if e, ok := enums[t]; ok {
		return map[string]any{"type": "string", "enum": e}
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[plan.Body]():
		return map[string]any{"type": "object", "description": "a Kubernetes object; what is secret in it is ***"}
	case reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "description": "nanoseconds"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		s := map[string]any{"type": "array", "items": schemaOf(t.Elem())}
		return s
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

func structSchema(t reflect.Type) map[string]any {
	props := map[string]any{}
	var required []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		s := schemaOf(f.Type)
		if f.Anonymous && name == "" { // its fields stand beside
			embedded := structSchema(f.Type)
			maps.Copy(props, embedded["properties"].(map[string]any))
			if of, _ := embedded["required"].([]string); of != nil {
				required = append(required, of...)
			}
			continue
		}
		if name == "v" {
			s["const"] = diag.DocumentVersion
		}
		if opts == "" {
			required = append(required, name)
			if k := f.Type.Kind(); k == reflect.Slice || k == reflect.Map {
				s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
			}
		}
		props[name] = s
	}
	out := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	return out
}

// documents are the public JSON forms, each with what is checked against its schema.
var documents = map[string]struct {
	typ   reflect.Type
	title string
	value any
}{
	"plan":         {reflect.TypeFor[fleetplan.FleetPlan](), "A plan for a fleet: hawser plan -o json", shopPlan()},
	"outcome":      {reflect.TypeFor[fleetplan.Outcome](), "What a rollout did: the summary of hawser apply -o json", failedOutcome()},
	"status":       {reflect.TypeFor[fleetplan.StatusReport](), "The state of bundles on a fleet: hawser status -o json", shopStatus()},
	"listing":      {reflect.TypeFor[release.Listing](), "What was delivered: hawser list -o json, hawser inspect -o json", shopListing()},
	"history":      {reflect.TypeFor[history.History](), "Releases of bundles on a fleet: hawser history -o json, hawser history show -o json", history.Of(shopKept())},
	"between":      {reflect.TypeFor[history.Between](), "What two sides of a fleet run, compared: hawser diff --between -o json", shopBetween()},
	"promotion":    {reflect.TypeFor[promotion.Promotion](), "What is promoted, and what is written: hawser promote -o json", shopPromotion()},
	"comparison":   {reflect.TypeFor[history.Comparison](), "What changed between two releases: hawser history diff -o json", shopCompared()},
	"saying":       {reflect.TypeFor[release.Saying](), "What somebody said of a release: hawser approve -o json, pause, resume and abort", shopSaying()},
	"records":      {reflect.TypeFor[recordkeeping.Report](), "What was done with the records of a bundle: hawser release unlock -o json, hawser release move -o json", someRecords()},
	"drift":        {reflect.TypeFor[drift.Report](), "What others have changed since the last release: hawser drift -o json", shopDrift()},
	"findings":     {reflect.TypeFor[FindingsDocument](), "Errors, warnings and notes: -o json of commands that stop early", someFindings()},
	"fleet-report": {reflect.TypeFor[fleetplan.FleetReport](), "Clusters and how they are reached: hawser fleet ls -o json", shopFleet()},
	"lock":         {reflect.TypeFor[fleetplan.LockReport](), "What hawser.lock pins: hawser lock -o json", someLock()},
	"outdated":     {reflect.TypeFor[fleetplan.OutdatedReport](), "Sources compared with what there is: hawser outdated -o json", someOutdated()},
	"event":        {reflect.TypeFor[fleetplan.Event](), "One line of hawser apply -o json", shopEvents()[0]},
}

// someRecords are those of a bundle, moved and not.
func someRecords() *recordkeeping.Report {
	return &recordkeeping.Report{V: diag.DocumentVersion, Verb: recordkeeping.Moving, Bundle: "shop", Clusters: []recordkeeping.Row{
		{Cluster: "production-eu", From: "the cluster's Secrets in hawser-system", To: "the S3 bucket acme/shop", Release: 42, Rollout: "7K2M3XYZ", Revisions: 10, Done: true},
		{Cluster: "production-us", Unreachable: "i/o timeout"}, {Cluster: "staging-eu", From: "the S3 bucket acme/shop", Nothing: true},
		{Cluster: "staging-us", Problem: "locked by bob@ci"}}}
}

// shopSaying is an approval that one of two clusters does not know of.
func shopSaying() *release.Saying {
	hold := &release.Hold{Bundle: "shop", Release: 42, Rollout: "7K2M3XYZ", Author: "ada@laptop", Wave: "wave 2 (production)", Since: time.Unix(1, 0).UTC()}
	said, _ := release.Say(release.Approve, "shop", release.Meant{}, release.Word{By: "bob", At: time.Unix(2, 0).UTC()},
		[]release.OnCluster{{Cluster: "production-eu", Hold: hold}, {Cluster: "production-us", Unreachable: "i/o timeout"}})
	said.Clusters[0].End(nil, strings.Clone)
	return said
}

const schemaDir = "../../docs/schema"

// TestSchemas: the schemas in docs/schema are those of the types, and every document fits its own.
func TestSchemas(t *testing.T) {
	for name, d := range documents {
		s := schemaOf(d.typ)
		s["$schema"], s["$id"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "https://hawser.dev/schema/"+name+".json", d.title
		data, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(schemaDir, name+".json")
		if *update {
			if err := os.MkdirAll(schemaDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || string(have) != string(data)+"\n" {
			t.Errorf("%s is stale (%v): go test ./internal/report -update", file, err)
		}
		schema, err := jsonschema.NewCompiler().Compile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := text(t, func(b *bytes.Buffer) error { return JSON(b, d.value) })
		golden(t, "json/"+name+".json", got)
		check(t, schema, name, got)
		if name == "event" {
			var b bytes.Buffer
			write := NewNDJSON(&b)
			for _, e := range shopEvents() {
				write(e)
			}
			golden(t, "json/events.ndjson", b.String())
			for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
				check(t, schema, "event", l)
			}
		}
	}
	golden(t, "json/status.yaml", text(t, func(b *bytes.Buffer) error { return YAML(b, shopStatus()) }))
}

func check(t *testing.T, s *jsonschema.Schema, name, text string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestSchemaRefuses: the schemas are not so loose that everything fits.
func TestSchemaRefuses(t *testing.T) {
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaDir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{}`, `{"v":2}`, `[]`} {
		doc, _ := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if s.Validate(doc) == nil {
			t.Errorf("%s fits", bad)
		}
	}
}
