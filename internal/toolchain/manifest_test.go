package toolchain_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/crane"

	"hawser.dev/hawser/internal/toolchain"
)

// TestPushManifest: a module's manifest has the media types, the order of layers and the annotations of Timoni's.
func TestPushManifest(t *testing.T) {
	tt, r := online(t)
	if _, err := tt.Push(t.Context(), toolchain.PushRequest{Dir: begun(t, tt), URL: r.OCI("mods/web"), Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	data, err := crane.Manifest(r.Host+"/mods/web:latest", crane.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	type part struct {
		MediaType   string            `json:"mediaType"`
		Annotations map[string]string `json:"annotations"`
	}
	var got struct {
		MediaType   string            `json:"mediaType"`
		Config      part              `json:"config"`
		Layers      []part            `json:"layers"`
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := got
	want.MediaType = "application/vnd.oci.image.manifest.v1+json"
	want.Config = part{MediaType: "application/vnd.timoni.config.v1+json"}
	want.Layers = []part{
		{"application/vnd.timoni.content.v1.tar+gzip", map[string]string{"sh.timoni.content.type": "module/vendor"}},
		{"application/vnd.timoni.content.v1.tar+gzip", map[string]string{"sh.timoni.content.type": "module"}},
	}
	want.Annotations = map[string]string{"org.opencontainers.image.version": "1.0.0",
		"sh.timoni.images": "docker.io/nginxinc/nginx-unprivileged:1.29.1-alpine,registry.example.com/team/app:1.2.3@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestList: versions newest first, ranges and names filtered, the ones that latest means marked.
func TestList(t *testing.T) {
	tt, r := online(t)
	dir := begun(t, tt)
	for _, version := range []string{"1.0.0", "1.10.0", "1.2.0", "2.0.0-rc.1"} {
		if _, err := tt.Push(t.Context(), toolchain.PushRequest{Dir: dir, URL: r.OCI("mods/web"), Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tt.TagArtifact(t.Context(), r.OCI("mods/web")+":1.10.0", []string{"stable"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		req    toolchain.ListRequest
		want   []string
		latest string
	}{
		{toolchain.ListRequest{Versions: true, Details: true}, []string{"2.0.0-rc.1", "1.10.0", "1.2.0", "1.0.0"}, "1.2.0"},
		{toolchain.ListRequest{Versions: true, Limit: 2}, []string{"2.0.0-rc.1", "1.10.0"}, ""},
		{toolchain.ListRequest{Range: ">=1.2 <2"}, []string{"1.10.0", "1.2.0"}, ""},
		{toolchain.ListRequest{Regexp: "^(s|1.0)"}, []string{"1.0.0", "stable"}, ""},
		{toolchain.ListRequest{Regexp: "none"}, nil, ""},
	} {
		c.req.URL = r.OCI("mods/web")
		tags, err := tt.List(t.Context(), c.req)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		latest := ""
		for _, tag := range tags {
			if names = append(names, tag.Name); tag.Latest {
				latest = tag.Name
			}
			if c.req.Details && len(tag.Digest) != 71 {
				t.Errorf("%s has digest %q", tag.Name, tag.Digest)
			}
		}
		if diff := cmp.Diff(c.want, names); diff != "" || latest != c.latest {
			t.Errorf("%+v: latest %q, %s", c.req, latest, diff)
		}
	}
	for _, req := range []toolchain.ListRequest{{URL: "mods/web"}, {URL: r.OCI("mods/web") + ":1.0.0"}, {URL: r.OCI("mods/web"), Range: "one"}, {URL: r.OCI("mods/web"), Regexp: "("}, {URL: r.OCI("mods/none")}} {
		if _, err := tt.List(t.Context(), req); err == nil {
			t.Errorf("%+v succeeded", req)
		}
	}
}
