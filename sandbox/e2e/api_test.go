package e2e

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

func whoAmI(t *testing.T, c kubernetes.Interface) (authenticationv1.UserInfo, error) {
	t.Helper()
	r, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return r.Status.UserInfo, nil
}

func create(t *testing.T, c dynamic.Interface, group, version, resource string, manifest string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(manifest)); err != nil {
		t.Fatal(err)
	}
	r := c.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
	var err error
	if ns := u.GetNamespace(); ns != "" {
		_, err = r.Namespace(ns).Create(t.Context(), u, metav1.CreateOptions{})
	} else {
		_, err = r.Create(t.Context(), u, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("%s: %v", resource, err)
	}
}

func TestCustomResources(t *testing.T) {
	c, err := dynamic.NewForConfig(shared.config(t, "us"))
	if err != nil {
		t.Fatal(err)
	}
	create(t, c, "apiextensions.k8s.io", "v1", "customresourcedefinitions", `{"apiVersion":"apiextensions.k8s.io/v1",
		"kind":"CustomResourceDefinition","metadata":{"name":"things.e2e.test"},"spec":{"group":"e2e.test","scope":"Namespaced",
		"names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	things := c.Resource(schema.GroupVersionResource{Group: "e2e.test", Version: "v1", Resource: "things"}).Namespace("default")
	thing := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "e2e.test/v1", "kind": "Thing", "metadata": map[string]any{"name": "one"},
	}}
	eventually(t, 10*time.Second, "a Thing created", func() bool {
		_, err := things.Create(t.Context(), thing, metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err)
	})
}

func TestWebhook(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":false,"status":{"message":"not today"}}}`, review.Request.UID)
	}))
	defer srv.Close()
	c, err := dynamic.NewForConfig(shared.config(t, "us"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	if err != nil {
		t.Fatal(err)
	}
	create(t, c, "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", `{"apiVersion":"admissionregistration.k8s.io/v1",
		"kind":"ValidatingWebhookConfiguration","metadata":{"name":"no.e2e.test"},"webhooks":[{"name":"no.e2e.test","sideEffects":"None",
		"admissionReviewVersions":["v1"],"clientConfig":{"url":"`+srv.URL+`","caBundle":`+string(ca)+`},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}],
		"objectSelector":{"matchLabels":{"deny":"me"}}}]}`)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "denied-", Labels: map[string]string{"deny": "me"}}}
	eventually(t, 10*time.Second, "the webhook refuses", func() bool {
		_, err := shared.client(t, "us").CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{})
		return err != nil && strings.Contains(err.Error(), "not today")
	})
}

// TestAggregatedAPI serves an API from this process: an APIService whose Service is an external name for localhost.
func TestAggregatedAPI(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if len(r.TLS.PeerCertificates) == 0 && strings.HasSuffix(r.URL.Path, "/echo") {
			t.Error("the aggregator showed no certificate")
		}
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"agg.e2e.test/v1","resources":[],"user":%q}`, r.Header.Get("X-Remote-User"))
	}))
	srv.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dynamic.NewForConfig(shared.config(t, "us"))
	if err != nil {
		t.Fatal(err)
	}
	create(t, c, "", "v1", "services", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"agg","namespace":"default"},
		"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	create(t, c, "apiregistration.k8s.io", "v1", "apiservices", `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
		"metadata":{"name":"v1.agg.e2e.test"},"spec":{"group":"agg.e2e.test","version":"v1","groupPriorityMinimum":10,"versionPriority":10,
		"insecureSkipTLSVerify":true,"service":{"name":"agg","namespace":"default","port":`+u.Port()+`}}}`)
	client := shared.client(t, "us")
	eventually(t, 20*time.Second, "the aggregated API answers with the caller's name", func() bool {
		raw, err := client.Discovery().RESTClient().Get().AbsPath("/apis/agg.e2e.test/v1/echo").DoRaw(t.Context())
		return err == nil && strings.Contains(string(raw), `"user":"sandbox-admin"`)
	})
}
