package desired

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
)

// keeping is a store that is asked for what is kept; nothing else is asked of it.
type keeping struct {
	release.Store
	release.Keeper
	kept func(ctx context.Context) (release.Kept, error)
}

func (k keeping) Kept(ctx context.Context, _ string) (release.Kept, release.RecordVersion, error) {
	kept, err := k.kept(ctx)
	return kept, "h", err
}

// TestCancelledReadIsNobodyElses: what is kept on a cluster is read again when who read it first was cancelled.
func TestCancelledReadIsNobodyElses(t *testing.T) {
	asked := 0
	store := keeping{kept: func(ctx context.Context) (release.Kept, error) {
		asked++
		return release.Kept{"app": {}}, ctx.Err()
	}}
	r := Resolver{Target: &Target{Session: session{}, Store: store, Record: &release.Record{Made: map[string]string{"app": "x"}}}, Redactor: redact.New(),
		Beside: func(context.Context, *State, chance.Own) ([]chance.Beside, error) { return nil, nil }}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.remembered(ended, &State{}); err == nil {
		t.Error("a cancelled read succeeds")
	}
	for range 2 {
		if m, err := r.remembered(t.Context(), &State{}); err != nil || len(m.stored) != 1 {
			t.Errorf("it answers for the next one: %v", err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// session is a cluster on which every object is what err says.
type session struct {
	Session
	err error
}

func (s session) Get(context.Context, string, string, string, string) (map[string]any, error) {
	return nil, s.err
}

// A Secret that a chart looks up and that cannot be looked at is an error: nothing is made up over it.
func TestLookupFails(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{apierrors.NewNotFound(corev1.Resource("secrets"), "login"), ""},
		{apierrors.NewForbidden(corev1.Resource("secrets"), "login", errors.New("no rights")), "--rotate app"},
		{errors.New("connection reset"), "connection reset"},
	} {
		r := Resolver{Target: &Target{Session: session{err: c.err}}, Redactor: redact.New()}
		p := &InstanceRender{}
		p.Placed.Name = "app"
		_, err := r.found(t.Context(), chance.Answers{}, p, []object.Ref{ref})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(diag.From(err, "")[0].String()+diag.From(err, "")[0].Why+diag.From(err, "")[0].Fix, c.want)) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

// TestRotateIsOfDeclaredInstances: an entry for another bundle's instance makes nothing anew of one of that name that this one once had.
func TestRotateIsOfDeclaredInstances(t *testing.T) {
	kept := release.Kept{}
	for _, name := range []string{"web", "db"} {
		kept[name] = chance.Answers{Calls: []chance.Call{{Template: "values.p", Func: chance.Generate, Value: "a-generated-" + name}}}
	}
	r := Resolver{Target: &Target{Session: session{}, Store: keeping{kept: func(context.Context) (release.Kept, error) { return kept, nil }}, Record: &release.Record{}}, Redactor: redact.New(),
		Beside: func(context.Context, *State, chance.Own) ([]chance.Beside, error) { return nil, nil }, Rotate: chance.Rotation{"web", "db"}}
	m, err := r.remembered(t.Context(), &State{Spec: v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{{Name: "web"}}}})
	if err != nil || len(m.now["web"].Calls) != 0 || len(m.now["db"].Calls) != 1 {
		t.Errorf("%+v, %v", m.now, err)
	}
}
