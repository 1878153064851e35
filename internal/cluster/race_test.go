package cluster_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testserver"
)

// TestPreviewRacesWithAController: what a controller writes between the live read and the dry run is no change of ours,
// whether an object is updated or adopted.
func TestPreviewRacesWithAController(t *testing.T) {
	for name, change := range map[string]plan.Change{
		"update": {Action: plan.Update, Code: plan.CodeDrift},
		"adopt":  {Action: plan.Adopt, FromManagers: []string{"helm"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := testserver.Start(t)
			s := connectTo(t, hostileConfig(t, srv))
			o := objs(t, "default", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: raced, namespace: NS}\ndata: {a: new}")[0].Marked("owner", "b")
			version, asked := 7, 0
			srv.Fault(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/configmaps/raced") {
					return false
				}
				data := "old"
				if r.Method == http.MethodPatch {
					data = "new"
					if asked++; asked <= 2 {
						version++ // a controller was here
					}
				}
				live := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": data}, "metadata": map[string]any{
					"name": "raced", "namespace": "default", "uid": "u", "resourceVersion": strconv.Itoa(version),
					"annotations": map[string]any{"controller.example/revision": strconv.Itoa(version)}}}
				text, err := json.Marshal(live)
				if err != nil {
					t.Error(err)
				}
				return testserver.Body(200, string(text))(w, r)
			})
			change.Ref, change.UID = o.Ref(), "u"
			got := s.Preview(t.Context(), []cluster.PreviewRequest{{Change: change, Body: o}}, nil, nil)[o.Ref()]
			if len(got.Fields) != 1 || got.Fields[0].Path != "data.a" || got.Finding != nil || asked != 3 {
				t.Errorf("asked %d times: %+v", asked, got)
			}
		})
	}
}
