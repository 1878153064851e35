package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/chance"
)

// An instance of a later step that goes ahead of those that wait for a value is guarded as it would have been in its turn: what it makes up is not put
// over a password that is in use, which the plan could not know.
func TestMadeAheadIsGuarded(t *testing.T) {
	t.Parallel()
	r := takers(t, `    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.uri}}}}
    two: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    four: {namespace: NS, helm: {chart: ./makes}, values: {uri: {from: {instance: two, object: v1/ConfigMap/two, path: data.uri}}}}
`)
	r.write("makes/Chart.yaml", "apiVersion: v2\nname: makes\nversion: 1.0.0\n")
	r.write("makes/templates/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: pw}\nstringData: {p: '{{ if eq .Values.uri \"postgres://db\" }}{{ randAlphaNum 20 }}{{ else }}none{{ end }}'}\n")
	secrets := r.admin.CoreV1().Secrets(r.name)
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	inUse := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pw"}, Data: map[string][]byte{"p": []byte("in-use")}}
	if _, err := secrets.Create(t.Context(), inUse, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.Adopt, req.Timeout = true, 15*time.Second
	out, err := r.Apply(t.Context(), r.plan(req), req)
	if text := fmt.Sprintf("%+v", out.Clusters); err == nil || !strings.Contains(text, "Secret "+r.name+"/pw") || !strings.Contains(text, "not begun: four, one") {
		t.Errorf("%v %s", err, text)
	}
	if s, err := secrets.Get(t.Context(), "pw", metav1.GetOptions{}); err != nil || string(s.Data["p"]) != "in-use" {
		t.Errorf("%v: the password that was in use is %d bytes now", err, len(s.Data["p"]))
	}
}

// TestRotateInOneOfSeveral: in a run of several bundles what is made anew is that of the one that has the instance, the others go on; where
// several have it, each refuses.
func TestRotateInOneOfSeveral(t *testing.T) {
	t.Parallel()
	r := madeRig(t)
	r.declares("a:db=r1 api=r2", "b:web=r3 api=r4")
	req := r.request()
	req.Among = []string{r.name + "-a", r.name + "-b"}
	for _, bundle := range req.Among {
		req.Bundle = bundle
		r.applied(req)
	}
	for rotate, c := range map[string]struct {
		changes [2]int
		refused string
	}{
		"db":  {changes: [2]int{1, 0}},
		"web": {changes: [2]int{0, 1}},
		"api": {refused: "choose one bundle with --bundle"},
		"ap":  {refused: "there is: api, db, ma, mb, web"},
	} {
		req.Rotate = chance.Rotation{rotate}
		for i, bundle := range req.Among {
			req.Bundle = bundle
			fp, err := r.Plan(t.Context(), req)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s of %s: %v", rotate, bundle, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s of %s: %v", rotate, bundle, err)
				continue
			}
			if n := fp.Counts().Update; n != c.changes[i] {
				t.Errorf("%s of %s: %d changes, want %d", rotate, bundle, n, c.changes[i])
			}
			fp.run.close()
		}
	}
	req.Bundle, req.Among, req.Rotate = r.name+"-b", nil, chance.Rotation{"db"}
	if _, err := r.Plan(t.Context(), req); err == nil || !strings.Contains(err.Error(), "unknown-instance") && !strings.Contains(err.Error(), `no instance "db"`) {
		t.Errorf("one bundle alone: %v", err)
	}
}
