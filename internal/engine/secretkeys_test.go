package engine

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/redact"
)

// TestSecretKeysAreNotShown: keys of entries that are a secret, or hold one in some form, are shown by nothing: not those of now, and not
// those of before, which the record alone knows; whatever they stand in, and whatever is planned. Names of the schema stay.
func TestSecretKeysAreNotShown(t *testing.T) {
	t.Parallel()
	const first, second = "Zq7canaryAbx9Kd", "Zr8canaryAbx9Ke"
	r := newRig(t)
	objects := func(pw, more string) string {
		b64 := base64.RawURLEncoding.EncodeToString([]byte(pw))
		return strings.NewReplacer("PW", pw, "B64", b64, "MORE", more).Replace("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: keys, annotations: {PW: a, B64: b, \"x.y/PW\": c}}\n" +
			"data: {PW: inkey, app-PW: sub, B64: enc, plain: MORE}\n" +
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: keys, annotations: {PW: a}}\nstringData: {PW: inkey, B64: enc, plain: MORE}\n" +
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: keys}\nspec: {ports: [{port: 80}], selector: {PW: a}}\n")
	}
	as := r.knowing
	silent := func(where string, shown any) {
		t.Helper()
		silentOf(t, where, shown, first, second)
	}
	r.write("bundle.yaml", r.bundle(objects(first, "one")))
	req := r.request()
	req.ShowDiff, req.ShowFields, req.ShowContent = true, true, true
	now := as(first)
	plan := now.plan(req)
	silent("the first plan", plan.FleetPlan)
	silent("its file", now.save(plan))
	out, err := now.Apply(t.Context(), plan, req)
	if err != nil {
		t.Fatal(err)
	}
	silent("apply", out)
	for _, o := range as(first).recorded() {
		silent("the record's marks", o.Sensitive)
		if o.Ref().Name == "keys" && len(o.SensitiveKeys()) == 0 {
			t.Errorf("%s: %q marks no key", o.Ref(), o.Sensitive)
		}
	}

	r.write("app.yaml", objects(second, "two"))
	for _, diff := range []bool{true, false} {
		req.ShowDiff = diff
		now = as(second)
		plan = now.plan(req)
		silent("the plan", plan.FleetPlan)
		text := now.save(plan)
		silent("its file", text)
		if !strings.Contains(text, `data.***`) || !strings.Contains(text, `data.plain`) || !strings.Contains(text, `annotations.***`) || !strings.Contains(text, `selector.***`) || !strings.Contains(text, `data.app-***`) {
			t.Errorf("what changes is not told: %s", text)
		}
	}
	saved, err := now.loadSaved(now.save(plan))
	if err != nil {
		t.Fatalf("masked as it is, the plan is the same: %v", err)
	}
	saved.Close()
	if _, err := now.Apply(t.Context(), plan, req); err != nil {
		t.Fatal(err)
	}

	look := r.back("")
	look.ShowDiff, look.ShowFields, look.ShowContent, look.Reads = true, true, true, true
	compared := history.Releases("1", "2")
	if err := as().Compare(t.Context(), look, compared); err != nil {
		t.Fatal(err)
	}
	silent("history diff", compared)
	back, err := as().Plan(t.Context(), look.For(Rollback))
	if err != nil {
		t.Fatal(err)
	}
	silent("rollback", back.FleetPlan)
	back.Close()
	r.patch("intruder", "ConfigMap", "keys", `{"data":{"`+second+`":"by hand"}}`)
	silent("drift", as().drifted())
	status, _ := as().Status(t.Context(), look) // it drifted
	silent("status", status)
	r.write("app.yaml", r.configMap("other", "key: x"))
	gone := as().plan(req)
	silent("the removal", gone.FleetPlan)
	silent("its file", as().save(gone))
}

// knowing is the rig as a process that knows secrets, or none, and nothing of what other processes knew.
func (r *rig) knowing(secrets ...string) *rig {
	return &rig{t: r.t, dir: r.dir, name: r.name, admin: r.admin,
		Engine: &Engine{Resolve: r.Resolve, Records: r.Records, Renderers: r.Renderers, Redactor: redact.New(secrets...), Version: "test"}}
}

// silentOf fails the test where what is shown has a secret, or one in base64.
func silentOf(t *testing.T, where string, shown any, secrets ...string) {
	t.Helper()
	text, is := shown.(string)
	if !is {
		data, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	for _, pw := range secrets {
		for _, form := range []string{pw, base64.RawURLEncoding.EncodeToString([]byte(pw))[:18]} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s shows %s: …%s", where, form, text[max(0, i-120):min(len(text), i+40)])
			}
		}
	}
}
