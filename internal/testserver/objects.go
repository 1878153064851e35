package testserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// event is what happened to an object: what it was, nil for nothing, and is, nil for gone.
type event struct {
	version int
	of      kind
	was, is map[string]any
}

// told is what of an event those are told who watch what a selector selects: "" for nothing.
func (e event) told(selector string) (what string, object map[string]any) {
	was, is := e.was != nil && selected(e.was, selector), e.is != nil && selected(e.is, selector)
	switch {
	case is && was:
		return "MODIFIED", e.is
	case is:
		return "ADDED", e.is
	case was: // it is told as it was, at the version at which it went
		gone := (&unstructured.Unstructured{Object: e.was}).DeepCopy()
		gone.SetResourceVersion(strconv.Itoa(e.version))
		return "DELETED", gone.Object
	}
	return "", nil
}

// Put stores an object at its path ("/api/v1/namespaces/x/configmaps/y") as somebody else would who creates it or puts it in the place of
// what is there.
func (s *Server) Put(path string, obj map[string]any) {
	k, _ := kindOf(path)
	obj = exact(obj)
	if obj["apiVersion"] == nil {
		obj["apiVersion"], obj["kind"] = schema.GroupVersion{Group: k.group, Version: k.version}.String(), k.kind
	}
	if obj["metadata"] == nil {
		obj["metadata"] = map[string]any{"name": k.name}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.live(path)
	s.keep(path, k, live, updated(live, &unstructured.Unstructured{Object: obj}, "somebody"))
}

// SetStatus gives an object that is there a status, as its controller does.
func (s *Server) SetStatus(path string, status map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, _ := kindOf(path)
	obj := s.live(path)
	obj.Object["status"] = exact(status)
	s.keep(path, k, s.live(path), obj)
}

// Object is a copy of the object at a path as encoding/json has it, nil for none.
func (s *Server) Object(path string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[path] == nil {
		return nil
	}
	data, _ := json.Marshal(s.objects[path])
	var out map[string]any
	_ = json.Unmarshal(data, &out)
	return out
}

// Clone is another server with the same objects, UIDs included.
func (s *Server) Clone(t testing.TB) *Server {
	t.Helper()
	out := Start(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	out.mu.Lock()
	defer out.mu.Unlock()
	out.version, out.objects = s.version, maps.Clone(s.objects)
	return out
}

// exact is a copy of an object with the numbers that Kubernetes' library takes.
func exact(obj map[string]any) map[string]any {
	data, _ := json.Marshal(obj)
	var out map[string]any
	_ = utiljson.Unmarshal(data, &out)
	return out
}

// live is a copy of what is at a path, nil for nothing; the caller holds mu.
func (s *Server) live(path string) *unstructured.Unstructured {
	if s.objects[path] == nil {
		return nil
	}
	return (&unstructured.Unstructured{Object: s.objects[path]}).DeepCopy()
}

// objectRequest answers what is asked of one object, or creates one.
func (s *Server) objectRequest(w http.ResponseWriter, r *http.Request, k kind) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		Status(w, 400, "BadRequest", "the body cannot be read")
		return
	}
	s.mu.Lock()
	code, answer, err := s.carryOut(r, k, body)
	s.mu.Unlock()
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		st := status.Status()
		st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		reply(w, int(st.Code), st)
		return
	} else if err != nil {
		Status(w, 400, "BadRequest", err.Error())
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata;") && answer["kind"] != "Status" {
		answer = metadataOf(answer)
	}
	reply(w, code, answer)
}

func metadataOf(o map[string]any) map[string]any {
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o["metadata"]}
}

// carryOut does what a request asks; the caller holds mu.
func (s *Server) carryOut(r *http.Request, k kind, body []byte) (int, map[string]any, error) {
	path, query := r.URL.Path, r.URL.Query()
	if k.collection {
		var err error
		if k.name, body, err = named(body); err != nil {
			return 0, nil, err
		}
		path += "/" + k.name
	}
	resource := schema.GroupResource{Group: k.group, Resource: k.resource}
	live := s.live(path)
	now, err := s.wanted(r, k, live, body)
	switch {
	case err != nil:
		return 0, nil, err
	case r.Method == http.MethodGet:
		return 200, live.Object, nil
	case r.Method == http.MethodDelete:
		dry, err := deletes(r, k, live, body)
		if err != nil {
			return 0, nil, err
		}
		if !dry {
			delete(s.objects, path)
			s.version++
			s.tell(k, live.Object, nil)
		}
		details := map[string]any{"name": k.name, "kind": k.resource, "uid": string(live.GetUID())}
		if k.group != "" {
			details["group"] = k.group
		}
		return 200, map[string]any{"apiVersion": "v1", "kind": "Status", "metadata": map[string]any{}, "status": "Success", "details": details}, nil
	case live == nil && k.namespace != "" && s.objects["/api/v1/namespaces/"+k.namespace] == nil:
		return 0, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, k.namespace)
	case live == nil && r.Method != http.MethodPost && now.GetUID() != "":
		return 0, nil, apierrors.NewConflict(resource, k.name, errors.New("the UID in the precondition is that of no object"))
	case live != nil && now.GetUID() != "" && now.GetUID() != live.GetUID():
		return 0, nil, wrongUID(r.Method, k, now)
	case live != nil && now.GetResourceVersion() != "" && now.GetResourceVersion() != live.GetResourceVersion():
		return 0, nil, apierrors.NewConflict(resource, k.name, errors.New("the object has been modified"))
	}
	code := 200
	if live == nil {
		code = 201
	}
	if query.Get("dryRun") != "" {
		return code, s.stamped(k, live, now).Object, nil
	}
	return code, s.keep(path, k, live, now), nil
}

// named is the name of an object that is to be created, and the object with it, which is made up where it asks for that.
func named(body []byte) (string, []byte, error) {
	var o unstructured.Unstructured
	if err := utiljson.Unmarshal(body, &o.Object); err != nil || o.GetName() == "" && o.GetGenerateName() == "" {
		return "", nil, errors.New("the body is no object with a name")
	}
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + rand.String(5))
	}
	body, err := json.Marshal(o.Object)
	return o.GetName(), body, err
}

// wanted is what a request makes of an object that is there, or not (nil).
func (s *Server) wanted(r *http.Request, k kind, live *unstructured.Unstructured, body []byte) (*unstructured.Unstructured, error) {
	query, resource := r.URL.Query(), schema.GroupResource{Group: k.group, Resource: k.resource}
	manager := query.Get("fieldManager")
	content, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	apply := r.Method == http.MethodPatch && content == "application/apply-patch+yaml"
	switch {
	case r.Method == http.MethodPost && live != nil:
		return nil, apierrors.NewAlreadyExists(resource, k.name)
	case live == nil && r.Method != http.MethodPost && !apply:
		return nil, apierrors.NewNotFound(resource, k.name)
	case r.Method == http.MethodPatch && !apply:
		old, err := json.Marshal(live.Object)
		if err != nil {
			return nil, err
		}
		if body, err = patched(content, old, body); err != nil {
			return nil, err
		}
	case r.Method == http.MethodGet || r.Method == http.MethodDelete:
		return live, nil
	}
	now := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &now.Object); err != nil || now.Object == nil {
		return nil, errors.New("the body is no object")
	}
	if apply {
		return applied(live, now, manager, query.Get("force") == "true")
	}
	return updated(live, now, manager), nil
}

// patched is an object after a patch that is no apply.
func patched(content string, old, patch []byte) ([]byte, error) {
	if content != "application/json-patch+json" {
		return jsonpatch.MergePatch(old, patch)
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	out, err := operations.Apply(old)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return out, nil
}

// deletes holds what a deletion asks for against what is there, and reports whether it is a dry run. With options in its body those of the
// query do not count.
func deletes(r *http.Request, k kind, live *unstructured.Unstructured, body []byte) (dry bool, err error) {
	options := metav1.DeleteOptions{DryRun: r.URL.Query()["dryRun"]}
	if len(bytes.TrimSpace(body)) > 0 {
		options = metav1.DeleteOptions{}
		if err := json.Unmarshal(body, &options); err != nil {
			return false, errors.New("the body is no DeleteOptions")
		}
	}
	p := options.Preconditions
	if p == nil || (p.UID == nil || *p.UID == live.GetUID()) && (p.ResourceVersion == nil || *p.ResourceVersion == live.GetResourceVersion()) {
		return len(options.DryRun) > 0, nil
	}
	return false, apierrors.NewConflict(schema.GroupResource{Group: k.group, Resource: k.kind}, k.name, errors.New("a precondition failed"))
}

// keep stores an object, and is what is there then; the caller holds mu.
func (s *Server) keep(path string, k kind, live, now *unstructured.Unstructured) map[string]any {
	now = s.stamped(k, live, now)
	var was map[string]any
	if live != nil {
		if was = live.Object; reflect.DeepEqual(now.Object, was) {
			return was
		}
	}
	s.version++
	now.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[path] = now.Object
	s.tell(k, was, now.Object)
	return now.Object
}

// stamped is an object with what the server gives it, but for a new version; the caller holds mu.
func (s *Server) stamped(k kind, live, now *unstructured.Unstructured) *unstructured.Unstructured {
	now = now.DeepCopy()
	if now.SetNamespace(k.namespace); live == nil {
		now.SetUID(uuid.NewUUID())
		now.SetResourceVersion("")
		now.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	} else {
		now.SetUID(live.GetUID())
		now.SetResourceVersion(live.GetResourceVersion())
		now.SetCreationTimestamp(live.GetCreationTimestamp())
	}
	switch k.kind {
	case "Secret":
		defaulted(now.Object, "type", "Opaque")
	case "Deployment":
		if spec, ok := now.Object["spec"].(map[string]any); ok {
			defaulted(spec, "replicas", int64(1))
		}
		now.SetGeneration(1)
		if live != nil {
			if now.SetGeneration(live.GetGeneration()); !reflect.DeepEqual(now.Object["spec"], live.Object["spec"]) {
				now.SetGeneration(live.GetGeneration() + 1)
			}
		}
	}
	return now
}

func defaulted(in map[string]any, key string, value any) {
	if in[key] == nil {
		in[key] = value
	}
}

// tell lets those who watch look again; the caller holds mu.
func (s *Server) tell(k kind, was, is map[string]any) {
	s.events = append(s.events, event{s.version, k, was, is})
	close(s.changed)
	s.changed = make(chan struct{})
}

// watch tells of what is stored and deleted after a version.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, k kind) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if s.mu.Lock(); from == 0 {
		from = s.version
	}
	s.mu.Unlock()
	_ = http.NewResponseController(w).Flush()
	for {
		s.mu.Lock()
		events, changed := s.events, s.changed
		s.mu.Unlock()
		at, _ := slices.BinarySearchFunc(events, from+1, func(e event, version int) int { return e.version - version })
		for _, e := range events[at:] {
			from = e.version
			what, object := e.told(r.URL.Query().Get("labelSelector"))
			if what == "" || !k.holds(e.of) {
				continue
			}
			if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata;") {
				object = metadataOf(object)
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"type": what, "object": object})
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-changed:
		case <-s.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// holds reports whether an object belongs to what is listed or watched.
func (k kind) holds(o kind) bool {
	return o.served == k.served && (k.namespace == "" || o.namespace == k.namespace)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, k kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	metadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList;")
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if here, ok := kindOf(path); !ok || !k.holds(here) || !selected(s.objects[path], r.URL.Query().Get("labelSelector")) {
			continue
		}
		item := maps.Clone(s.objects[path])
		if delete(item, "apiVersion"); metadata {
			item = metadataOf(item)
		} else {
			delete(item, "kind")
		}
		items = append(items, item)
	}
	out := map[string]any{"apiVersion": schema.GroupVersion{Group: k.group, Version: k.version}.String(), "kind": k.kind + "List",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items}
	if metadata {
		out["apiVersion"], out["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	reply(w, 200, out)
}

func selected(obj map[string]any, selector string) bool {
	parsed, err := labels.Parse(selector)
	return err == nil && parsed.Matches(labels.Set((&unstructured.Unstructured{Object: obj}).GetLabels()))
}

// wrongUID is the answer to who means another object of the same name.
func wrongUID(method string, k kind, now *unstructured.Unstructured) error {
	if method == http.MethodPut {
		return apierrors.NewConflict(schema.GroupResource{Group: k.group, Resource: k.resource}, k.name, errors.New("a precondition failed"))
	}
	wrong := field.Invalid(field.NewPath("metadata", "uid"), now.GetUID(), "field is immutable")
	return apierrors.NewInvalid(schema.GroupKind{Group: k.group, Kind: k.kind}, k.name, field.ErrorList{wrong, wrong})
}
