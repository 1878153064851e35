package lineage

import "testing"

// TestBundleName: a bundle of plain manifests is named by its namespace and its path.
func TestBundleName(t *testing.T) {
	for _, tt := range []struct{ namespace, place, want string }{
		{"", "manifests", "manifests"},
		{"team-a", "manifests", "team-a-manifests"},
		{"team-b", "manifests", "team-b-manifests"},
		{"shop", "apps/Shop/deploy", "shop-apps-shop-deploy"},
		{"shop", "apps/shop/a/path/that/is/longer/than/a/name/may/be/at/all/deploy", "shop-apps-shop-a-path-that-is-longer-than-a-name-may-b-1d2628a7"},
	} {
		if got := BundleName(tt.namespace, tt.place); got != tt.want || len(got) > maxName {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
