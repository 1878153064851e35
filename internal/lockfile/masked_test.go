package lockfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMasked: a file that has tokens in the addresses of sources, as earlier versions wrote them, is read without them and with its pins.
func TestMasked(t *testing.T) {
	f, err := Parse([]byte(`{"v":3,"sources":{
		"manifests https://h/x.yaml?token=clear-1":{"digest":"sha256:x"},
		"manifests https://h/y.yaml?token=clear-1":{"digest":"sha256:1"},
		"manifests https://h/y.yaml?token=clear-2":{"digest":"sha256:2"},
		"manifests https://h/k.yaml?key=a":{"digest":"sha256:ka"},
		"manifests https://h/k.yaml?key=b":{"digest":"sha256:kb"},
		"manifests https://h/z.yaml?token=clear-1":{"digest":"sha256:same"},
		"manifests https://h/z.yaml?token=clear-2":{"digest":"sha256:same"},
		"manifests https://h/n.yaml?token=clear-1":{"digest":"sha256:old"},
		"manifests https://h/n.yaml?token=***":{"digest":"sha256:new"},
		"helm https://u:clear-3@h/charts api ^2":{"version":"2.1.0","digest":"sha256:h"},
		"oci://r/web 1.x":{"version":"1.4.2","digest":"sha256:w"}},
	"bundles":{"shop":["manifests https://h/x.yaml?token=clear-1","manifests https://h/z.yaml?token=clear-1","manifests https://h/z.yaml?token=clear-2"]},
	"promoted":{"f":{"shop":{"group prod":{"manifests https://h/x.yaml?token=clear-1":{"digest":"sha256:p"},
		"manifests https://h/q.yaml?token=clear-1":{"digest":"sha256:1"},"manifests https://h/q.yaml?token=clear-2":{"digest":"sha256:2"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Pin{
		"manifests https://h/x.yaml?token=***": {Digest: "sha256:x"},
		"manifests https://h/y.yaml?token=***": {}, // one of two, and nobody knows which
		"manifests https://h/k.yaml?key=a":     {Digest: "sha256:ka"},
		"manifests https://h/k.yaml?key=b":     {Digest: "sha256:kb"},
		"manifests https://h/z.yaml?token=***": {Digest: "sha256:same"},
		"manifests https://h/q.yaml?token=***": {}, // of a promotion
		"manifests https://h/n.yaml?token=***": {Digest: "sha256:new"},
		"helm https://***@h/charts api ^2":     {Version: "2.1.0", Digest: "sha256:h"},
		"oci://r/web 1.x":                      {Version: "1.4.2", Digest: "sha256:w"},
	}
	if diff := cmp.Diff(want, f.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"shop": {"manifests https://h/x.yaml?token=***", "manifests https://h/z.yaml?token=***"}}, f.Bundles); diff != "" {
		t.Errorf("bundles (-want +got):\n%s", diff)
	}
	if pin := f.Promoted.At("f", "shop", "prod", "eu")["manifests https://h/x.yaml?token=***"]; pin.Digest != "sha256:p" {
		t.Errorf("%+v", f.Promoted)
	}
	if text := string(f.Text()); strings.Contains(text, "clear-") {
		t.Error(text)
	}
	if again, err := Parse(f.Text()); err != nil || !cmp.Equal(again, f) {
		t.Errorf("written and read again: %v, %v", again, err)
	}
}
