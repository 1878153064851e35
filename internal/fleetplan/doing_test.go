package fleetplan

import "testing"

// Where a line is too short, the pod's name is left out first, and then the reason is cut: the object is always named.
func TestDoing(t *testing.T) {
	const object, message = "Deployment shop/api", "pod api-6c9f7d8b9c-x2k4p, container api: ImagePullBackOff: not found"
	for _, c := range []struct {
		message, age string
		cols         int
		want         string
	}{
		{message, "31 s", 200, "Deployment shop/api pod api-6c9f7d8b9c-x2k4p, container api: ImagePullBackOff: not found, 31 s"},
		{message, "31 s", 80, "Deployment shop/api container api: ImagePullBackOff: not found, 31 s"},
		{message, "31 s", 50, "Deployment shop/api ImagePullBackOff ..., 31 s"},
		{message, "", 80, "Deployment shop/api: container api: ImagePullBackOff: not found"},
		{"", "3 s", 10, "Deployment shop/api, 3 s"},
		{"hook failed", "", 24, "Deployment shop/api"},
		{"2 of 3 pods ready", "3 s", 80, "Deployment shop/api 2 of 3 pods ready, 3 s"},
	} {
		if got := Doing(object, c.message, c.age, func(s string) bool { return len(s) <= c.cols }); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.cols, got, c.want)
		}
	}
	if got := Doing("", "refused", "", func(string) bool { return true }); got != "refused" {
		t.Error(got)
	}
}
