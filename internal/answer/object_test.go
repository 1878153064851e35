package answer

import (
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDoubt(t *testing.T) {
	kept := metav1.ObjectMeta{Name: "a", UID: "u", ResourceVersion: "1"}
	list := func(kind, token string) *corev1.SecretList {
		return &corev1.SecretList{TypeMeta: metav1.TypeMeta{Kind: kind}, ListMeta: metav1.ListMeta{Continue: token}}
	}
	for _, c := range []struct {
		because string
		query   url.Values
		into    any
		doubt   bool
	}{
		{"an object", nil, &corev1.Secret{ObjectMeta: kept}, false},
		{"nothing", nil, &corev1.Secret{}, true},
		{"without a version", nil, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}}, true},
		{"a dry run keeps nothing", url.Values{"dryRun": {"All"}}, &corev1.Secret{}, false},
		{"a list", nil, list("SecretList", ""), false},
		{"an answer that is none", nil, list("", ""), true},
		{"a Status", nil, list("Status", ""), true},
		{"a next page", url.Values{"continue": {"a"}}, list("SecretList", "b"), false},
		{"the same page again", url.Values{"continue": {"a"}}, list("SecretList", "a"), true},
		{"a Status of a deletion", nil, &metav1.Status{}, false},
	} {
		if got := Doubt(c.query, c.into); (got != "") != c.doubt {
			t.Errorf("%s: %q", c.because, got)
		}
	}
}

func TestNamed(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "sent"}}
	for _, c := range []struct {
		method     string
		body, into any
		want       string
	}{
		{"GET", nil, &corev1.Secret{}, "asked"},
		{"PUT", secret, &corev1.Secret{}, "sent"},
		{"GET", nil, &corev1.SecretList{}, ""},
		{"DELETE", &metav1.DeleteOptions{}, nil, ""},
	} {
		if got := Named(c.method, "/api/v1/namespaces/x/secrets/asked", c.body, c.into); got != c.want {
			t.Errorf("%s: %q, want %q", c.method, got, c.want)
		}
	}
}

func TestDeletionOf(t *testing.T) {
	status := func(uid string) *Deletion {
		d := &Deletion{Details: &metav1.StatusDetails{}}
		d.Kind, d.Details.UID = "Status", "u"
		if uid == "" {
			d.Details = nil
		}
		return d
	}
	object := &Deletion{}
	object.UID = "u"
	if !status("u").Of("u") || status("").Of("u") || status("u").Of("other") || !object.Of("u") || object.Of("other") || (&Deletion{}).Of("u") {
		t.Error("a deletion is taken for that of another object")
	}
}
