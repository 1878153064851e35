package engine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleet/kubeconfig"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/plain"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/testserver"
)

// served is an engine for clusters that are servers of this test alone, which may be taken away and changed.
type served struct {
	*Engine
	t       *testing.T
	dir     string
	servers map[string]*testserver.Server
}

// Apply carries a plan out as a command does.
func (s *served) Apply(ctx context.Context, fp *Prepared, req Request) (*fleetplan.Outcome, error) {
	return driven(ctx, s.Engine, fp, req)
}

// newServed starts a server for each context, and writes bundle.yaml with one ConfigMap, and fleet.yaml with these clusters,
// lines of YAML, "" for none.
func newServed(t *testing.T, clusters string, edit func(*clientcmdapi.Config), contexts ...string) *served {
	t.Helper()
	redactor := redact.New()
	s := &served{t: t, dir: t.TempDir(), servers: map[string]*testserver.Server{}, Engine: &Engine{
		Resolve:   new(kubeconfig.Resolver).Resolve,
		Records:   inTheCluster,
		Renderers: map[string]render.Renderer{"manifests": plain.New(plain.Options{Redact: redactor.Redact})},
		Redactor:  redactor,
		Version:   "test",
	}}
	s.PlanKey = planfile.KeyFile{Path: filepath.Join(s.dir, "state", "plan.key")}
	cfg := clientcmdapi.NewConfig()
	cfg.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: testserver.Token}
	for _, name := range contexts {
		s.servers[name] = testserver.Start(t)
		cfg.Clusters[name] = &clientcmdapi.Cluster{Server: s.servers[name].URL, CertificateAuthorityData: s.servers[name].CA}
		cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: "test"}
		cfg.CurrentContext = name
	}
	if edit != nil {
		edit(cfg)
	}
	if err := clientcmd.WriteToFile(*cfg, filepath.Join(s.dir, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	s.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: one}\n")
	s.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    app:\n      namespace: default\n      manifests: {paths: [app.yaml]}\n")
	if clusters != "" {
		s.fleet(clusters)
	}
	return s
}

// fleet writes the file of a fleet of these clusters.
func (s *served) fleet(clusters string) {
	s.t.Helper()
	s.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n"+clusters)
}

func (s *served) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) request() Request {
	req := Request{Input: filesOf(s.dir, "bundle.yaml"), RunOptions: RunOptions{Wait: true, Author: "tester",
		Access: fleet.AccessOptions{Kubeconfig: filepath.Join(s.dir, "kubeconfig")}}}
	if path := filepath.Join(s.dir, "fleet.yaml"); exists(path) {
		docs(&req).FleetFiles = []string{path}
	}
	return req
}

// has reports whether the bundle's ConfigMap is on a cluster.
func (s *served) has(name string) bool {
	return s.servers[name].Object("/api/v1/namespaces/default/configmaps/a") != nil
}

// wrote are the requests to a server that change something, and are no reviews and no dry runs.
func (s *served) wrote(name string) []string {
	return slices.DeleteFunc(s.servers[name].Requests(), func(request string) bool {
		return strings.HasPrefix(request, "GET ") || strings.Contains(request, "selfsubject") || strings.Contains(request, "dryRun=")
	})
}

func (s *served) applied(req Request) *fleetplan.Outcome {
	s.t.Helper()
	fp, err := s.Plan(s.t.Context(), req)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.Apply(s.t.Context(), fp, req)
	if err != nil {
		s.t.Fatalf("%v %+v", err, out)
	}
	return out
}

// A plan is saved with all clusters there, and applied when one is down, of whatever wave: it is refused with exit code 5, says
// which cluster and what to do, and nothing is written anywhere, neither objects nor a record nor a lock. With
// --skip-unreachable the living one gets what was shown (exit code 3); when the other is back, the same file goes on there.
func TestSavedPlanWithOneClusterDown(t *testing.T) {
	t.Parallel()
	for name, clusters := range map[string]string{
		"of a later wave":     "    eu: {group: one, kubeContext: eu}\n    us: {group: two, kubeContext: us}\n",
		"of the first wave":   "    us: {group: one, kubeContext: us}\n    eu: {group: two, kubeContext: eu}\n",
		"of the wave with it": "    eu: {group: one, kubeContext: eu}\n    us: {group: one, kubeContext: us}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServed(t, clusters, nil, "eu", "us")
			fp, err := s.Plan(t.Context(), s.request())
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if _, _, err := s.SavePlan(fp, &file); err != nil {
				t.Fatal(err)
			}
			load := func() (*Prepared, error) {
				req := s.request()
				return s.LoadPlan(t.Context(), bytes.NewReader(file.Bytes()), Request{Input: filesOf(s.dir), RunOptions: RunOptions{Wait: true, Access: req.Access}})
			}
			s.servers["us"].Fault(testserver.Cut)
			saved, err := load()
			if err != nil {
				t.Fatalf("the plan of the cluster that is there: %v", err)
			}
			out, err := s.Apply(t.Context(), saved, Request{RunOptions: RunOptions{Wait: true}})
			refusedFor(t, err, "us does not answer", "--skip-unreachable")
			if exitcode.Of(err) != exitcode.Refused || out != nil && slices.ContainsFunc(out.Clusters, fleetplan.ClusterOutcome.OK) {
				t.Errorf("exit %d, %+v", exitcode.Of(err), out)
			}
			if s.has("eu") || len(s.wrote("eu"))+len(s.wrote("us")) > 0 {
				t.Errorf("written before it was known: %v %v", s.wrote("eu"), s.wrote("us"))
			}
			if saved, err = load(); err != nil {
				t.Fatal(err)
			}
			if out, err = s.Apply(t.Context(), saved, Request{RunOptions: RunOptions{Wait: true, SkipUnreachable: true}}); exitcode.Of(err) != exitcode.Partial || !s.has("eu") {
				t.Errorf("without it: exit %d, %v, %+v", exitcode.Of(err), err, out)
			}
			s.servers["us"].Fault(nil)
			if saved, err = load(); err != nil {
				t.Fatalf("when it is back: %v", err)
			}
			if out, err = s.Apply(t.Context(), saved, Request{RunOptions: RunOptions{Wait: true}}); err != nil || !s.has("us") || out.Clusters[0].Done.Create+out.Clusters[1].Done.Create != 1 {
				t.Errorf("when it is back: %v %+v", err, out)
			}
		})
	}
}

// A certificate that is not verified, by the kubeconfig or by a flag, is a warning in every plan, as text, Markdown and JSON: of
// what is installed, gone back to, deleted, ejected, put right, deleted from a cluster that is retired, and read from a file. One that is
// verified after all is none.
func TestUnverifiedCertificateIsSaidInEveryPlan(t *testing.T) {
	t.Parallel()
	insecure := func(c *clientcmdapi.Config) {
		c.Clusters["eu"].InsecureSkipTLSVerify, c.Clusters["eu"].CertificateAuthorityData = true, nil
	}
	for name, c := range map[string]struct {
		edit func(*clientcmdapi.Config)
		over fleet.Override
		want bool
	}{
		"in the kubeconfig": {edit: insecure, want: true},
		"by a flag":         {over: fleet.Override{InsecureSkipTLSVerify: true}, want: true},
		"verified":          {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const us = "    us: {kubeContext: us}\n"
			clusters := us + "    eu: {kubeContext: eu}\n"
			if c.over.InsecureSkipTLSVerify { // such a flag goes with the one cluster of a context
				clusters = ""
			}
			s := newServed(t, clusters, c.edit, "us", "eu")
			ask := func() Request {
				req := s.request()
				req.Access.Override = c.over
				return req
			}
			judge := func(verb string, fp *fleetplan.FleetPlan, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", verb, err)
				}
				saysUnverified(t, verb, fp, c.want)
			}
			made := func(verb string, plan func() (*Prepared, error)) *Prepared {
				t.Helper()
				fp, err := plan()
				if err != nil {
					t.Fatalf("%s: %v", verb, err)
				}
				judge(verb, fp.FleetPlan, nil)
				return fp
			}
			first := made("plan", func() (*Prepared, error) { return s.Plan(t.Context(), ask()) })
			var file bytes.Buffer
			if _, _, err := s.SavePlan(first, &file); err != nil {
				t.Fatal(err)
			}
			read, err := s.ReadPlan(bytes.NewReader(file.Bytes()))
			judge("plan show", read, err)
			loaded := made("apply PLANFILE", func() (*Prepared, error) {
				return s.LoadPlan(t.Context(), bytes.NewReader(file.Bytes()), Request{Input: filesOf(s.dir), RunOptions: RunOptions{Wait: true, Access: ask().Access}})
			})
			if _, err := s.Apply(t.Context(), loaded, ask()); err != nil {
				t.Fatal(err)
			}
			s.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: two}\n")
			s.applied(ask())
			named := func(to string) Request {
				req := ask()
				docs(&req).Files, req.Bundle, req.To = nil, "shop", to
				return req
			}
			made("plan of nothing", func() (*Prepared, error) { return s.Plan(t.Context(), ask()) })
			made("rollback", func() (*Prepared, error) { return s.Plan(t.Context(), named("").For(Rollback)) })
			made("drift --correct", func() (*Prepared, error) { return s.Plan(t.Context(), named("").For(Correct)) })
			made("eject", func() (*Prepared, error) { return s.Plan(t.Context(), named("").For(Eject)) })
			made("delete", func() (*Prepared, error) { return s.Plan(t.Context(), named("").For(Delete)) })
			if clusters == "" {
				return
			}
			s.fleet(us)
			retire := named("")
			retire.Retire = "eu"
			made("fleet retire --delete", func() (*Prepared, error) { return s.Plan(t.Context(), retire.For(Delete)) })
		})
	}
}

// saysUnverified: every form of a plan says of a cluster that its certificate is not verified, or none does.
func saysUnverified(t *testing.T, verb string, fp *fleetplan.FleetPlan, want bool) {
	t.Helper()
	for form, print := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return report.Plan(b, fp, report.Style{Width: 120}) },
		"markdown": func(b *bytes.Buffer) error { return report.Markdown(b, fp, false) },
		"json":     func(b *bytes.Buffer) error { return report.JSON(b, fp) },
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil || strings.Contains(b.String(), "not verified") != want {
			t.Errorf("%s, %s: %v\n%s", verb, form, err, b.String())
		}
	}
}
