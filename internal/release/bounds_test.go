package release

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func packedText(t *testing.T, text string) []byte {
	t.Helper()
	z, err := encoder()
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

// TestBombs: what somebody puts into a cluster's record of some KB takes no memory to speak of; it is damaged.
func TestBombs(t *testing.T) {
	const n = 2_000_000
	record := func(field, item string) string {
		return `{"v":1,"bundle":"b","owner":"o","` + field + `":[` + strings.Repeat(item+",", n) + item + `]}`
	}
	for name, text := range map[string]string{
		"entries": record("inventory", "{}"), "nulls": record("inventory", "null"), "names": record("suspended", `"",""`),
		"deep":  `{"v":1,"x":` + strings.Repeat("[", 9000) + strings.Repeat("1,", 500_000) + "1" + strings.Repeat("]", 9000) + "}",
		"lists": `{"v":1,"depends":{"a":[` + strings.Repeat(`"",`, 3*n) + `""]}}`, "a text": `{"v":1,"bundle":"` + strings.Repeat("x", MaxStored+1) + `"}`,
	} {
		data := packedText(t, text)
		if len(data) > 1<<20 {
			t.Fatalf("%s: %d bytes are no bomb", name, len(data))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := DecodeRecord(data)
		_, _, _ = DecodeRevision(packedText(t, `{"v":1,"record":`+text+`,"objects":[]}`), SetDigest(nil))
		runtime.ReadMemStats(&after)
		if r != nil || !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
			t.Errorf("%s: %d MiB were taken", name, took)
		}
	}
	for _, size := range []uintptr{unsafe.Sizeof(plan.InventoryEntry{}), unsafe.Sizeof(health.Check{}), unsafe.Sizeof(plan.Hook{}), unsafe.Sizeof(object.Object{})} {
		if size > weightStruct {
			t.Errorf("a value takes %d bytes, and counts as %d", size, weightStruct)
		}
	}
}

// TestBudget: what is kept of all records of a cluster is bounded, and nothing is written that nobody could read.
func TestBudget(t *testing.T) {
	var b Budget
	ordinary := BundleListing{Bundle: "b", Instances: []InstanceListing{{Instance: "i", Objects: make([]ListedObject, 10_000)}}}
	for i := range ordinary.Instances[0].Objects {
		ordinary.Instances[0].Objects[i] = ListedObject{"apps/v1", "Deployment", "some-namespace", "some-deployment-of-the-bundle"}
	}
	for i := range 90 {
		if err := b.Keep(ordinary); err != nil {
			t.Fatalf("bundle %d of 10,000 objects: %v", i+1, err)
		}
	}
	for range 100 {
		if err := b.Keep(ordinary); err != nil {
			if !strings.Contains(err.Error(), "name a bundle") {
				t.Error(err)
			}
			b.spent = -1
			break
		}
	}
	if b.spent != -1 {
		t.Error("records without end are kept")
	}
	if _, err := EncodeRecord(Record{Bundle: "b", Inventory: make([]plan.InventoryEntry, 400_000)}); err == nil || !strings.Contains(err.Error(), "part the bundle") {
		t.Errorf("a record that cannot be read is written: %v", err)
	}
	large := Record{V: V, Bundle: "b", Phase: Failed}
	for range 50_000 {
		large.Inventory = append(large.Inventory, plan.InventoryEntry{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "x"}, Version: "v1", Instance: "i", UID: rand.Text(), Digest: rand.Text(), ApplyHash: "o"})
	}
	if data, err := EncodeRecord(large); err != nil {
		t.Error(err)
	} else if r, err := DecodeRecord(data); err != nil || len(r.Inventory) != 50_000 {
		t.Error(err)
	}
}

// TestNamesInRecords: a name in a record is one, or the record is damaged: lists print it as it is.
func TestNamesInRecords(t *testing.T) {
	const order = "web\x1b[2J\n::error::boom\nv: 1\n"
	for name, change := range map[string]func(*Record){
		"bundle":    func(r *Record) { r.Bundle = order },
		"group":     func(r *Record) { r.Group = "a\u202eb" },
		"source":    func(r *Record) { r.Sources = map[string]string{order: "module web"} },
		"suspended": func(r *Record) { r.Suspended = []string{order} },
		"instance":  func(r *Record) { r.Inventory = []plan.InventoryEntry{{Instance: order}} },
		"namespace": func(r *Record) { r.Inventory = []plan.InventoryEntry{{Ref: object.Ref{Namespace: order}}} },
		"object":    func(r *Record) { r.Inventory = []plan.InventoryEntry{{Ref: object.Ref{Name: "a\u009b2J"}}} },
		"digest":    func(r *Record) { r.Digests = map[string]string{"web": "sha256:" + order} },
		"inputs":    func(r *Record) { r.Inputs = map[string]string{"web": order} },
		"hawser":    func(r *Record) { r.Version = order },
		"made":      func(r *Record) { r.Marks = map[string][]chance.Mark{order: {{Length: 1}}} },
		"undone":    func(r *Record) { r.Unfinished = []string{order} },
		"unbegun":   func(r *Record) { r.NotBegun = []plan.NotBegun{{Instance: order}} },
		"after":     func(r *Record) { r.NotBegun = []plan.NotBegun{{Instance: "a", After: []string{order}}} },
		"needs":     func(r *Record) { r.Depends = map[string][]string{"web": {order}} },
		"hook": func(r *Record) {
			r.Hooks = map[string]plan.HookState{"web": {Hooks: []plan.Hook{{Ref: object.Ref{Name: order}}}}}
		},
	} {
		r := Record{V: V, Bundle: "b", Phase: Failed, Message: "two\nlines"}
		change(&r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeRecord(packedText(t, string(text))); !errors.Is(err, ErrDamaged) || strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, _ := json.Marshal(Record{V: V, Bundle: "b", Phase: Failed, Message: "two\nlines", Inventory: []plan.InventoryEntry{{Ref: object.Ref{Kind: "ClusterRole", Name: "system:a b/é"}}}})
	if _, err := DecodeRecord(packedText(t, string(text))); err != nil {
		t.Error(err)
	}
}

// TestNumbersAndPhases: a number that nobody counts to, and a phase that is none, are damage, and there is always a next number
// that can be read again.
func TestNumbersAndPhases(t *testing.T) {
	for name, fields := range map[string]string{
		"release": `"release":9223372036854775807,"phase":"failed"`, "revision": `"revision":-1,"phase":"failed"`,
		"done": `"done":{"create":1e12},"phase":"failed"`, "phase": `"phase":"succ \u001b[2J"`, "unknown phase": `"phase":"done"`, "no phase": `"phase":""`,
		"made-up value": `"phase":"failed","marks":{"web":[{"call":"c","length":-8,"digest":"d"}]}`,
	} {
		if _, err := DecodeRecord(packedText(t, `{"v":1,"bundle":"b",`+fields+`}`)); !errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
	last := &Record{V: V, Bundle: "b", Release: MaxNumber, Revision: MaxNumber, Phase: Succeeded}
	number, _ := Continues(Record{}, []*Record{last}, []*Record{nil}, func(string) bool { return false })
	data, err := EncodeRecord(Record{V: V, Bundle: "b", Release: number, Revision: NextRevision(last.Revision), Phase: Succeeded})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeRecord(data); err != nil {
		t.Error(err)
	}
}

// TestBudgetOfRecords: what a history keeps of a cluster is bounded, wherever in the records it lies, and ordinary ones fit.
func TestBudgetOfRecords(t *testing.T) {
	texts := make([]string, 1_000_000)
	for name, r := range map[string]Record{
		"a text": {Message: strings.Repeat("x", 100<<20)}, "a list": {Suspended: texts}, "entries": {Inventory: make([]plan.InventoryEntry, 200_000)},
		"checks": {Checks: map[string][]health.Check{"a": make([]health.Check, 200_000)}},
	} {
		var b Budget
		kept := 0
		for ; kept < 10 && b.KeepRecord(r) == nil; kept++ {
		}
		if kept == 0 || kept == 10 {
			t.Errorf("%s: %d are kept", name, kept)
		}
	}
	var b Budget
	ordinary := Record{Inventory: make([]plan.InventoryEntry, 500)}
	for i := range ordinary.Inventory {
		ordinary.Inventory[i] = plan.InventoryEntry{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "x"}, Version: "v1", Instance: "i"}
	}
	for i := range 30 * 10 {
		if err := b.KeepRecord(ordinary); err != nil {
			t.Fatalf("%d revisions: %v", i, err)
		}
	}
}

// TestSetBombs: a Set of some KB is not decoded where that would take more than anybody's of that size does; ordinary ones are, however
// alike their objects are and however deep.
func TestSetBombs(t *testing.T) {
	set := func(body string, n int) string {
		return `{"v":1,"record":{"v":1,"owner":"o","phase":"succeeded"},"objects":[` + strings.Repeat(`{"body":`+body+`},`, n) + `{"body":{"kind":"A"}}]}`
	}
	for name, text := range map[string]string{
		"objects": set(`{}`, 100_000), "values": set(`{"a":[`+strings.Repeat("1,", 300_000)+`1]}`, 1), "fields": set(`{"a":[`+strings.Repeat(`{"a":{}},`, 60_000)+`1]}`, 1),
		"deep": set(strings.Repeat(`{"a":`, 400)+`[`+strings.Repeat("1,", 2000)+`1]`+strings.Repeat("}", 400), 1), "a text": set(`{"a":"`+strings.Repeat("x", 60<<20)+`"}`, 1),
	} {
		data := packedText(t, text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := DecodeRevision(data, "")
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "larger") || took > 200 {
			t.Errorf("%s, %d bytes: %d MiB, %v", name, len(data), took, err)
		}
	}
	fields, places := map[string]any{}, []string{}
	for i := range maxClaims + 1 {
		fields[fmt.Sprint("k", i)], places = "v", append(places, fmt.Sprint("data.k", i))
	}
	secretive := []object.Object{{Body: map[string]any{"kind": "ConfigMap", "data": fields}, Sensitive: places}}
	if _, err := EncodeRevision(Record{}, secretive); err == nil || !strings.Contains(err.Error(), "part the bundle") {
		t.Errorf("more secrets than anybody has are kept: %v", err)
	}
	text, err := json.Marshal(map[string]any{"v": V, "record": Record{V: V, Phase: Succeeded}, "objects": []any{stored(secretive[0])}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := DecodeRevision(packedText(t, string(text)), SetDigest(secretive)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "secret") {
		t.Errorf("more secrets than anybody has are read: %v", err)
	}
	var alike []object.Object
	for i := range 10_000 {
		alike = append(alike, object.Object{Instance: "i", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"key": "value"},
			"metadata": map[string]any{"name": fmt.Sprint("config-", i), "namespace": "n", "labels": map[string]any{"hawser.dev/owner": "0123456789abcdef0123", "hawser.dev/bundle": "b", "hawser.dev/instance": "i", "app.kubernetes.io/managed-by": "hawser"}}}})
	}
	schema := any(map[string]any{"type": "string"})
	for range 60 {
		schema = map[string]any{"type": "object", "description": "what it is", "properties": map[string]any{"a": schema, "b": map[string]any{"type": "string"}}}
	}
	for name, objects := range map[string][]object.Object{"alike": alike, "deep": {{Body: map[string]any{"kind": "CustomResourceDefinition", "spec": schema}}}} {
		data, err := EncodeRevision(Record{Owner: "o", Phase: Succeeded}, objects)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, got, err := DecodeRevision(data, SetDigest(objects)); err != nil || len(got) != len(objects) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRecordIsBounded: a record of more kinds, or with longer health checks, than anybody delivers is damaged.
func TestRecordIsBounded(t *testing.T) {
	decoded := func(kinds, check int) error {
		r := Record{Checks: map[string][]health.Check{"web": {{Name: "x", Group: "example.com", Source: strings.Repeat("x", check)}}}}
		for i := range kinds {
			r.Inventory = append(r.Inventory, plan.InventoryEntry{Ref: object.Ref{Group: fmt.Sprintf("g%d.io", i), Kind: "K", Name: "n"}, Version: "v1"})
		}
		r.V, r.Phase = V, Succeeded
		_, failed := EncodeRecord(r)
		data, err := newWriter().json(r).packed(maxRecord)
		if err == nil {
			_, err = DecodeRecord(data)
		}
		if (err == nil) != (failed == nil) {
			t.Errorf("what cannot be read is written: %v, %v", err, failed)
		}
		return err
	}
	if err := decoded(maxKinds, maxCheck); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"kinds": decoded(maxKinds+1, 0), "health checks": decoded(1, maxCheck+1)} {
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
