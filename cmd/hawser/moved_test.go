package main

import "testing"

// TestMovedBetweenBundlesOfOneFile: plan and apply of the same files say and do the same when an object moves from one
// bundle to another: it is handed over on every cluster, and not deleted in between.
func TestMovedBetweenBundlesOfOneFile(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet)
	write := func(first, second []string) {
		s.write("m/first.yaml", configMaps("1", first...))
		s.write("m/second.yaml", configMaps("1", second...))
	}
	text := "bundles:\n"
	for _, n := range []string{"first", "second"} {
		text += "  $B-" + n + ":\n    apiVersion: v1alpha1\n    name: $B-" + n + "\n    instances:\n      app: {manifests: {paths: [./m/" + n +
			".yaml]}, namespace: $NS}\n"
	}
	s.write("bundle.yaml", s.fill(text))
	write([]string{"a", "b"}, []string{"c"})
	s.want(0, "apply", "-f", "bundle.yaml", "-r", "runtime.cue", "-y")
	uids := map[string]string{}
	for _, c := range clusters {
		uids[c] = string(s.get(c, "api/v1/namespaces/$NS/configmaps/b").Metadata.UID)
	}
	write([]string{"a"}, []string{"b", "c"})
	r := s.want(0, "plan", "-f", "bundle.yaml", "-r", "runtime.cue")
	s.has(r.Stdout, "handed to bundle $B-second", "moved here from bundle $B-first")
	s.want(0, "apply", "-f", "bundle.yaml", "-r", "runtime.cue", "-y")
	for _, c := range clusters {
		got := s.get(c, "api/v1/namespaces/$NS/configmaps/b").Metadata
		if string(got.UID) != uids[c] || got.Labels["hawser.dev/bundle"] != s.bundle+"-second" {
			t.Errorf("%s: b is %s of %q, was %s", c, got.UID, got.Labels["hawser.dev/bundle"], uids[c])
		}
	}
	s.want(0, "plan", "-f", "bundle.yaml", "-r", "runtime.cue")
}
