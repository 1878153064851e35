package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
)

// TestManyFindingsInJSON: a document has so many findings, and says how many more there are; what is printed stays as it is.
func TestManyFindingsInJSON(t *testing.T) {
	var fs diag.Findings
	for i := range maxJSON + 500 {
		fs = append(fs, diag.Errorf("e", "wrong %d", i))
	}
	p := &plan.Plan{Findings: fs}
	fp := &fleetplan.FleetPlan{Findings: fs, Clusters: []*fleetplan.ClusterPlan{{Plan: p}}}
	for _, doc := range []any{fs, fp, &fleetplan.FleetReport{Findings: fs}, &fleetplan.VetReport{Findings: fs}, &fleetplan.Outcome{Findings: fs}, &fleetplan.StatusReport{Findings: fs}} {
		var b bytes.Buffer
		if err := JSON(&b, doc); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Findings []struct{ Code, What string }
			Clusters []struct {
				Plan *struct{ Findings []struct{ Code string } }
			}
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if n := len(got.Findings); n != maxJSON+1 || got.Findings[n-1].Code != diag.CodeMore || got.Findings[n-1].What != "and 500 more findings, which are left out" {
			t.Errorf("%T: %d findings", doc, n)
		}
		if doc == any(fp) && len(got.Clusters[0].Plan.Findings) != maxJSON+1 {
			t.Errorf("of the cluster: %d", len(got.Clusters[0].Plan.Findings))
		}
	}
	var b bytes.Buffer
	NewNDJSON(&b)(fleetplan.Event{Summary: &fleetplan.Outcome{Findings: fs}})
	if n := bytes.Count(b.Bytes(), []byte(`"code"`)); n != maxJSON+1 {
		t.Errorf("the summary of an apply: %d", n)
	}
	if len(p.Findings) != len(fs) || len(fp.Findings) != len(fs) || fp.Clusters[0].Plan != p {
		t.Error("the plan itself has changed")
	}
}

// TestQuotesReadOnce: many messages about one file read it once.
func TestQuotesReadOnce(t *testing.T) {
	reads := 0
	text := []byte("kind: A\nb: 2\n---\nkind: Secret\nc: hunter2\n")
	var fs diag.Findings
	for i := range 5 {
		f := diag.Errorf("e", "wrong %d", i)
		f.Pos = diag.Pos{File: "x.yaml", Line: i + 1}
		fs = append(fs, f)
	}
	var b bytes.Buffer
	_ = Findings(&b, fs, Style{ReadFile: func(string) ([]byte, error) { reads++; return text, nil }})
	if reads != 1 || bytes.Contains(b.Bytes(), []byte("hunter2")) || !bytes.Contains(b.Bytes(), []byte("b: 2")) {
		t.Errorf("%s", fmt.Sprint(reads, " reads\n", b.String()))
	}
}
