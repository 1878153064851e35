//go:build corpus

package helm

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// TestCompareHelm renders every chart below HAWSER_CHARTS, directories and archives, with its own values by both programs,
// and prints a table: equal, chance (equal but for what is made up), different with the difference, refused with the reason.
func TestCompareHelm(t *testing.T) {
	root := os.Getenv("HAWSER_CHARTS")
	if root == "" {
		t.Skip("HAWSER_CHARTS names no folder of charts")
	}
	count := map[string]int{}
	for _, path := range chartsBelow(t, root) {
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			verdict, detail := compareChart(t, path)
			count[verdict]++
			fmt.Printf("%-10s %-50s %s\n", verdict, name, detail)
			if verdict == "different" {
				t.Fail()
			}
		})
	}
	fmt.Printf("%d equal, %d equal but for chance, %d different, %d refused, %d refused by Helm too\n",
		count["equal"], count["chance"], count["different"], count["refused"], count["both"])
	if len(count) == 0 {
		t.Errorf("no charts below %s", root)
	}
}

// chartsBelow are the charts in a folder, those inside of charts left out.
func chartsBelow(t *testing.T, root string) []string {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir() && strings.HasSuffix(path, ".tgz"):
			out = append(out, path)
		case d.IsDir():
			if _, err := os.Stat(filepath.Join(path, "Chart.yaml")); err == nil {
				out = append(out, path)
				return fs.SkipDir
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compareChart(t *testing.T, path string) (verdict, detail string) {
	c, err := loader.Load(path)
	if err != nil {
		return "both", oneLine(err)
	}
	files := map[string]string{}
	for _, f := range c.Raw {
		files["chart/"+f.Name] = string(f.Data)
	}
	values := ""
	if data, err := os.ReadFile(filepath.Join(path, "ci-values.yaml")); err == nil {
		values = string(data)
	}
	files["values.yaml"] = values
	req := request(t, files)
	req.Tests = true
	rel, helmErr := helmRelease(t, req, values)
	res, err := New(Options{}).Render(t.Context(), req)
	switch {
	case err != nil && helmErr != nil:
		return "both", oneLine(helmErr)
	case err != nil:
		return "refused", oneLine(err)
	case helmErr != nil:
		return "different", "only Helm refuses it: " + oneLine(helmErr)
	}
	want, err := parsed(rel.Manifest)
	if err != nil {
		return "both", oneLine(err)
	}
	for _, h := range rel.Hooks {
		list, err := parsed(h.Manifest)
		if err != nil {
			return "both", oneLine(err)
		}
		want = append(want, list...)
	}
	var got []map[string]any
	for _, o := range res.Objects {
		got = append(got, o.Body)
	}
	return verdictOf(res, want, got)
}

func verdictOf(res render.Result, want, got []map[string]any) (verdict, detail string) {
	byRef := func(a, b map[string]any) int {
		return object.Object{Body: a}.Ref().Compare(object.Object{Body: b}.Ref())
	}
	slices.SortStableFunc(want, byRef)
	slices.SortStableFunc(got, byRef)
	if cmp.Equal(want, got) {
		return "equal", ""
	}
	byKind := func(a, b map[string]any) int { // names may be made up too
		x, y := object.Object{Body: a}.Ref(), object.Object{Body: b}.Ref()
		x.Name, y.Name = "", ""
		return x.Compare(y)
	}
	if res.Open > 0 && slices.EqualFunc(want, got, func(a, b map[string]any) bool { return byKind(a, b) == 0 }) {
		return "chance", fmt.Sprintf("%d values are made up", res.Open)
	}
	return "different", "-helm +hawser\n" + cmp.Diff(want, got)
}

func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return text[:min(len(text), 200)]
}
