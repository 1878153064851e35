package built

import (
	"bytes"
	"reflect"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
)

// TestBuildGivesNoOrders: what build prints has no line that a CI system obeys, says what was rendered, and leaves what gives no
// orders as it is, scripts that write such lines included.
func TestBuildGivesNoOrders(t *testing.T) {
	data := map[string]any{"run.sh": "#!/bin/sh\necho ::group::x\n", "a": "x\n::error::boom\n", "b": "##vso[task.x]", "c": "x\u202ey"}
	o := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": data}}
	var b bytes.Buffer
	if err := Stream(&b, &fleetplan.BuildResult{Items: []fleetplan.BuildItem{{Instance: "web", Objects: []object.Object{o}}}}, false); err != nil {
		t.Fatal(err)
	}
	if bad := regexp.MustCompile(`(?m)^\s*::|##|\x{202e}`).FindString(b.String()); bad != "" || !bytes.Contains(b.Bytes(), []byte("\n    echo ::group::x\n")) {
		t.Errorf("%q in\n%s", bad, &b)
	}
	var got map[string]any
	if err := yaml.Unmarshal(b.Bytes()[bytes.LastIndex(b.Bytes(), []byte("---")):], &got); err != nil || !reflect.DeepEqual(got, o.Body) {
		t.Errorf("%v (%v), want %v", got, err, o.Body)
	}
}
