package kubeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/neversecret"
)

// What tells a cluster and its version from others looks so, wherever it was built: the rest is no answer of an API server.
var (
	uidForm     = lazyregexp.New(`^[0-9A-Za-z-]{0,64}$`)
	versionForm = lazyregexp.New(`^(?:v?[0-9]{1,6}\.[0-9]{1,6}[-+.0-9A-Za-z~_$:%]{0,56})?$`)
)

// echoed is the error of an answer that gives back what the connection logged in with as one of the texts, nil for others. Such texts identify
// something, so that nobody masks them later. what says what they are.
func (c *Client) echoed(what string, texts ...string) error {
	return c.gaveBack(what, c.own.Holds, texts)
}

// echoedExactly is echoed for texts that are made up by the cluster, so that a credential of words is none of them either. It may well be a name.
func (c *Client) echoedExactly(what string, texts ...string) error {
	return c.gaveBack(what, func(text string) bool { return c.own.Redact(text) != text }, texts)
}

func (c *Client) gaveBack(what string, holds func(string) bool, texts []string) error {
	least := int(c.least.Load())
	texts = slices.DeleteFunc(texts, func(text string) bool { return least == 0 || len(text) < least }) // no form of a credential is shorter than it
	if len(texts) > 0 && holds(strings.Join(texts, "\n")) {
		return c.WrongAnswer("gave back the credentials that it was sent, as %s", what)
	}
	return nil
}

// shortest is how many bytes a credential has at least that no object may hold where nobody masks it: labels and images are chosen by many, and one
// of them may well be called like a short password.
const shortest = 12

// most bounds how many texts with a credential are looked up in one answer: nobody keeps it so often.
const most = 1000

// sent notes a credential before it is sent.
func (c *connection) sent(credential string) {
	c.noted.Lock()
	defer c.noted.Unlock()
	c.own.AddSent(credential)
	if len(credential) >= shortest {
		c.long.AddSent(credential)
		c.filter.Store(c.long.Prefilter())
	}
	if n, least := int64(len(credential)), c.least.Load(); n > 0 && (least == 0 || n < least) {
		c.least.Store(n)
	}
}

// echoedBy is echoed for what identifies an object that was read, in either form; nil for what is no object.
func (c *Client) echoedBy(into any) error {
	if m, ok := into.(*map[string]any); ok && m != nil {
		into = &unstructured.Unstructured{Object: *m}
	}
	o, ok := into.(metav1.Object)
	if !ok {
		return nil
	}
	var managers []string
	for _, by := range o.GetManagedFields() {
		managers = append(managers, by.Manager)
	}
	if err := c.echoed("who has written an object", managers...); err != nil {
		return err
	}
	return c.echoedExactly("what identifies an object", string(o.GetUID()), o.GetResourceVersion())
}

// echoedIn is the error of an answer, or an event of a watch, that gives back what the connection logged in with where nobody masks it: in a key, in
// what an object is and is called, and wherever else nothing is secret; in what is no object anywhere. It reads the JSON that came, before anybody
// else does, as what is read twice in it may be understood in two ways. Most answers cost as good as nothing.
func (c *Client) echoedIn(path string, data []byte) error {
	if !c.filter.Load().May(data) {
		return nil
	}
	least := int(c.least.Load())
	r := echoReader{Decoder: json.NewDecoder(bytes.NewReader(data)), kinds: c.kindsAt(path), holds: func(text string) bool { return len(text) >= least && c.long.Holds(text) }}
	r.UseNumber()
	switch what, err := r.value(); {
	case err != nil:
		return c.NotUnderstood(err)
	case what != "":
		return c.WrongAnswer("gave back the credentials that it was sent, as %s of what is at %s", c.Cut(what, 200), path)
	}
	return nil
}

// mostKinds is how many kinds a resource may be of: API servers serve one.
const mostKinds = 4

// kindsAt are the kinds whose objects a path may be of; none for a path of something else, or of more kinds than there can be.
func (c *Client) kindsAt(path string) []schema.GroupKind {
	steps, group := strings.Split(strings.Trim(path, "/"), "/"), ""
	switch {
	case len(steps) > 2 && steps[0] == "api":
		steps = steps[2:]
	case len(steps) > 3 && steps[0] == "apis":
		group, steps = steps[1], steps[3:]
	default:
		return nil
	}
	resource := steps[0]
	if resource == "namespaces" && len(steps) > 2 {
		resource = steps[2]
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	var kinds []schema.GroupKind
	for gk, info := range c.kinds.byKind {
		if gk.Group == group && info.Resource == resource {
			kinds = append(kinds, gk)
		}
	}
	switch {
	case len(kinds) == 0:
		return []schema.GroupKind{{Group: group}}
	case len(kinds) > mostKinds:
		return nil
	}
	return kinds
}

// echoReader looks for credentials in a document.
type echoReader struct {
	*json.Decoder
	holds func(text string) bool
	kinds []schema.GroupKind
	path  []string
	found int
}

// deepest is how deep a document may be, as encoding/json has it.
const deepest = 10_000

// value reads a value and says where in it one is: what nobody masks, "" for nothing.
func (r *echoReader) value() (what string, err error) {
	t, err := r.Token()
	if err != nil {
		return "", err
	}
	switch t := t.(type) {
	case string:
		return r.text(t), nil
	case json.Number:
		return r.text(t.String()), nil
	case json.Delim:
		if len(r.path) == deepest {
			return "", errors.New("it is too deep")
		}
		for what == "" && err == nil && r.More() {
			what, err = r.item(t == '{')
		}
		if what == "" && err == nil {
			_, err = r.Token()
		}
	}
	return what, err
}

// item reads an entry of a map, with its key, or an item of a list.
func (r *echoReader) item(named bool) (what string, err error) {
	step := ""
	if named {
		key, err := r.Token()
		if err != nil {
			return "", err
		}
		if step, _ = key.(string); r.holds(step) {
			return "a key", nil
		}
	}
	r.path = append(r.path, step)
	what, err = r.value()
	r.path = r.path[:len(r.path)-1]
	return what, err
}

// text says what a text at the path is if one is in it that nobody masks there.
func (r *echoReader) text(text string) string {
	if !r.holds(text) {
		return ""
	}
	if r.found++; r.found > most {
		return "more texts than anybody keeps"
	}
	if !r.shown() {
		return ""
	}
	return "a text that is no secret (" + strings.Join(r.path, ".") + ")"
}

// shown reports whether nothing is secret at the path, in one of the kinds: names of fields count in capitals, too, as some decoders take them.
func (r *echoReader) shown() bool {
	path := slices.Clone(r.path)
	if len(path) > 1 && strings.EqualFold(path[0], "items") && path[1] == "" { // of a list
		path = path[2:]
	}
	if len(path) == 0 || len(path) == 1 && (strings.EqualFold(path[0], "kind") || strings.EqualFold(path[0], "apiVersion")) {
		return true
	}
	if strings.EqualFold(path[0], "metadata") {
		path[0] = "metadata"
	}
	return len(r.kinds) == 0 || slices.ContainsFunc(r.kinds, func(gk schema.GroupKind) bool { return neversecret.Place(gk.Group, gk.Kind, path) })
}
