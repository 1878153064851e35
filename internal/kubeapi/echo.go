package kubeapi

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What tells a cluster and its version from others looks so, wherever it was built: the rest is no answer of an API server.
var (
	uidForm     = regexp.MustCompile(`^[0-9A-Za-z-]{0,64}$`)
	versionForm = regexp.MustCompile(`^(?:v?[0-9]{1,6}\.[0-9]{1,6}[-+.0-9A-Za-z~_$:%]{0,56})?$`)
)

// echoed is the error of an answer that gives back what the connection logged in with as one of the texts, nil for others. Such texts identify
// something, so that nobody masks them later. what says what they are.
func (c *Client) echoed(what string, texts ...string) error {
	return c.gaveBack(what, c.own.Sweep, texts)
}

// echoedExactly is echoed for texts that are made up by the cluster, so that a credential of words is none of them either. It may well be a name.
func (c *Client) echoedExactly(what string, texts ...string) error {
	return c.gaveBack(what, c.own.Redact, texts)
}

func (c *Client) gaveBack(what string, mask func(string) string, texts []string) error {
	least := int(c.least.Load())
	texts = slices.DeleteFunc(texts, func(text string) bool { return least == 0 || len(text) < least }) // no form of a credential is shorter than it
	if text := strings.Join(texts, "\n"); mask(text) != text {
		return c.WrongAnswer("gave back the credentials that it was sent, as %s", what)
	}
	return nil
}

// sent notes a credential before it is sent.
func (c *connection) sent(credential string) {
	c.own.AddSent(credential)
	for n := int64(len(credential)); n > 0; {
		if least := c.least.Load(); least > 0 && least <= n || c.least.CompareAndSwap(least, n) {
			return
		}
	}
}

// echoes is echoed for what identifies an object that was read, in either form; nil for what is no object.
func (c *Client) echoes(into any) error {
	if m, ok := into.(*map[string]any); ok && m != nil {
		return c.echoedBy(&unstructured.Unstructured{Object: *m})
	}
	if o, ok := into.(metav1.Object); ok {
		return c.echoedBy(o)
	}
	return nil
}

func (c *Client) echoedBy(o metav1.Object) error {
	if err := c.echoedExactly("what identifies an object", string(o.GetUID()), o.GetResourceVersion()); err != nil {
		return err
	}
	texts := []string{o.GetName(), o.GetNamespace()}
	for _, by := range o.GetManagedFields() {
		texts = append(texts, by.Manager)
	}
	return c.echoed("what identifies an object", texts...)
}
