package helm

import (
	"encoding/json"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestDefault: what a chart or its dependency says of a value that the bundle does not give, with its line.
func TestDefault(t *testing.T) {
	req := request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
		"chart/values.yaml":            "# the image\nimage:\n  tag: \"1\"\n  on: yes\nl: [{a: 0644}]\nsub: {x: parent}\n",
		"chart/charts/sub/Chart.yaml":  "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"chart/charts/sub/values.yaml": "x: own\nw:\n  z: 7\n", "values.yaml": "image: {tag: mine}\n"})
	for path, want := range map[string]string{
		"image.tag": `"1" charts/app/values.yaml:3:3`, "image": `{"tag":"1","true":true} charts/app/values.yaml:2:1`, "l.0.a": `420 charts/app/values.yaml:5:6`,
		"sub.x": `"parent" charts/app/values.yaml:6:7`, "sub.w.z": `7 charts/app/charts/sub/values.yaml:3:3`, "none": "", "sub.none": "",
	} {
		p, err := v1alpha1.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if x, pos := New(Options{}).Default(t.Context(), req, p); x != nil {
			v, err := x.Any()
			if err != nil {
				t.Fatal(err)
			}
			data, _ := json.Marshal(v)
			got = string(data) + " " + pos.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
