package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/cli"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/driver"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleet/kubeconfig"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/health/cel"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/isolate"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/chartdir"
	"hawser.dev/hawser/internal/module/charts"
	"hawser.dev/hawser/internal/module/dir"
	"hawser.dev/hawser/internal/module/oci"
	"hawser.dev/hawser/internal/module/web"
	"hawser.dev/hawser/internal/outgoing"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/blob"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/cue"
	"hawser.dev/hawser/internal/render/helm"
	"hawser.dev/hawser/internal/render/kustomize"
	"hawser.dev/hawser/internal/render/plain"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/sandboxbin"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/secret/env"
	secretfile "hawser.dev/hawser/internal/secret/file"
	secretkube "hawser.dev/hawser/internal/secret/kube"
	"hawser.dev/hawser/internal/secret/sops"
	"hawser.dev/hawser/internal/sessions"
	"hawser.dev/hawser/internal/signature"
	"hawser.dev/hawser/internal/signature/sigstore"
	"hawser.dev/hawser/internal/terminal"
	"hawser.dev/hawser/internal/toolchain"
	"hawser.dev/hawser/internal/toolchain/goproxy"
	"hawser.dev/hawser/internal/values"
)

// requestLimit bounds one request to an API server; 0 is what the cluster room takes.
var requestLimit time.Duration

// evaluationLimit bounds evaluation and rendering, which happen before the first write: a CUE evaluation cannot be
// cancelled, so a runaway one ends the process. No input of less than 1 MiB takes 1 GiB or a minute.
var evaluationLimit = cuelang.WatchLimits{Deadline: 50 * time.Second, HeapBytes: 4 << 30, OwnBytes: 448 << 20}

// app wires the leaves to the engine and the engine to the command line.
func app() *cli.App {
	redactor := redact.New() // one for the process: what one engine learns, no other shows
	outgoing.Environment(os.Getenv, redactor.AddSent)
	resolver := &kubeconfig.Resolver{Filled: filled} // one for the process: a pipe can be read only once
	pool := new(sessions.Pool)                       // one for the process: its bundles share connections
	newEngine := func(onEvent func(fleetplan.Event)) *engine.Engine {
		e := newEngine(redactor, onEvent)
		e.Resolve, e.Sessions = resolver.Resolve, pool.Get
		children.into(e, redactor)
		return e
	}
	return &cli.App{
		In: os.Stdin, Out: os.Stdout, Err: terminal.Stderr, Version: version, Mask: redactor.Sweep,
		Engine: func(onEvent func(fleetplan.Event)) (cli.Engine, error) {
			return driver.Engine{Engine: newEngine(onEvent)}, nil
		},
		ReadPlan: func(r io.Reader) (*fleetplan.FleetPlan, error) { return newEngine(nil).ReadPlan(r) },
		Explain: func(ctx context.Context, req engine.Request, path string) ([]place.Line, error) {
			found, err := newEngine(nil).Explain(ctx, req, path)
			return place.Lines(found), err
		},
		Bundles: func(ctx context.Context, req engine.Request) ([]string, error) {
			return newEngine(nil).Bundles(ctx, req)
		},
		Lock: func(ctx context.Context, req engine.Request) (*fleetplan.LockReport, error) {
			return newEngine(nil).Lock(ctx, req)
		},
		Outdated: func(ctx context.Context, req engine.Request) (*fleetplan.OutdatedReport, error) {
			return newEngine(nil).Outdated(ctx, req)
		},
		FleetClusters: func(ctx context.Context, at fleetplan.Paths) ([]fleet.Cluster, error) {
			e := newEngine(nil)
			program, findings := document.Load(ctx, document.Options{Files: at.Files, Fleet: at.FleetFiles, Workdir: at.Workdir, Watchdog: e.Watchdog, Elsewhere: e.Elsewhere})
			if program == nil {
				return nil, findings.Err()
			}
			return fleet.Clusters(program.Fleet()), nil
		},
		ImportKubeconfig: func(file, name string) (string, diag.Findings) {
			return kubeconfig.Import(kubeconfig.ImportOptions{Kubeconfig: file, Path: file, Name: name})
		},
		Tools: func() (*toolchain.Tools, error) { return newTools(redactor) },
		Cache: storage,
		Registries: func(creds string, insecure bool) error {
			access.Insecure = access.Insecure || insecure
			if creds == "" && insecure {
				return nil
			}
			secret, err := access.Give(creds)
			redactor.Add(secret)
			return err
		},
		CacheDir: func(dir string) { cacheDir = dir },
		Isolate:  children.switched,
		Sandbox:  sandboxbin.Path,
	}
}

// newEngine fills the engine's sockets: the one place that knows the leaves.
func newEngine(redactor *redact.Redactor, onEvent func(fleetplan.Event)) *engine.Engine {
	var writes atomic.Bool
	watchdog := cuelang.Watch(evaluationLimit, func(f diag.Finding) {
		exceeded(terminal.Stderr, f, writes.Load())
		os.Exit(1)
	})
	sockets := evaluating(isolate.Host{Redact: redactor.Redact, Learn: redactor.AddFor, Watchdog: watchdog, Beyond: func() health.Checker {
		children.make(redactor)
		return children.beyond
	}})
	files := dir.New()
	kept := storage()
	artifacts := registries(kept, redactor)
	repositories := charts.New(charts.Options{Cache: kept, Redact: redactor.Redact, Tell: redactor.AddSent, OfHost: artifacts.OfHost})
	pages := web.New(web.Options{Cache: kept, Redact: redactor.Redact, HTTP: httpclient.Options{Tell: redactor.AddSent}, UserAgent: "hawser/" + version})
	return &engine.Engine{
		Resolve: (&kubeconfig.Resolver{Filled: filled}).Resolve,
		Records: func(f *v1alpha1.FleetSpec, get func(context.Context, string) (string, error)) func(*cluster.Session, string) release.Store {
			return recordStores(f, blob.Server{UserAgent: "hawser/" + version, Tell: redactor.AddSent, Redact: redactor.Redact}, get)
		},
		Renderers: sockets.Renderers,
		Fetchers: map[string]module.Fetcher{
			"file":                      files,
			"oci":                       artifacts,
			"https":                     pages,
			"http":                      pages,
			module.ChartScheme + "file": chartdir.New(kept), module.ChartScheme + "https": repositories, module.ChartScheme + "http": repositories,
		},
		Signatures: verifier(kept, artifacts, redactor),
		Checker:    sockets.Checker,
		Stores:     openStore,
		Documents:  kept.Document,
		Locate:     plain.Position,
		Redactor:   redactor,
		PlanKey:    planfile.DefaultKeyFile(os.Getenv),
		Watchdog:   watchdog,
		OnEvent: func(ev fleetplan.Event) {
			if ev.Type == fleetplan.EventClusterStart {
				writes.Store(true)
			}
			if onEvent != nil {
				onEvent(ev)
			}
		},
		RequestTimeout: requestLimit,
		Version:        version,
	}
}

// evaluating makes what evaluates and renders: the same for this process and for a child of it.
func evaluating(host isolate.Host) isolate.Sockets {
	modules := cue.New(cue.Options{Redact: host.Redact, Watch: host.Watchdog, Beyond: host.Beyond, CheckTime: host.CheckTime})
	return isolate.Sockets{
		Renderers: map[string]render.Renderer{
			"module":    modules,
			"helm":      helm.New(helm.Options{Redact: host.Redact, Watch: host.Watchdog}),
			"kustomize": kustomize.New(kustomize.Options{Redact: host.Redact, Learn: host.Learn, Watch: host.Watchdog}),
			"manifests": plain.New(plain.Options{Redact: host.Redact}),
		},
		Checker: health.Checkers{CUE: modules, CEL: new(cel.Checker)},
		GoesOn:  modules.GoesOn,
	}
}

// newTools fills the tool chain's sockets.
func newTools(redactor *redact.Redactor) (*toolchain.Tools, error) {
	watchdog := cuelang.Watch(evaluationLimit, func(f diag.Finding) {
		exceeded(terminal.Stderr, f, false)
		os.Exit(1)
	})
	modules := cue.New(cue.Options{Redact: redactor.Redact, Watch: watchdog})
	kept := storage()
	artifacts := registries(kept, redactor)
	sources := goproxy.New(goproxy.Options{Dir: filepath.Join(kept.Location(), "gomod"), Redact: redactor.Redact, Tell: redactor.AddSent})
	return &toolchain.Tools{
		Fetchers: map[string]module.Fetcher{"file": dir.New(), "oci": artifacts},
		Registry: artifacts, Digests: artifacts, Logins: artifacts, Signatures: verifier(kept, artifacts, redactor), Signers: sigstores(redactor), GoModules: sources, Download: sources.Download, Getenv: os.Getenv,
		Watchdog: watchdog,
		Render: func(ctx context.Context, req toolchain.RenderRequest) (toolchain.Rendered, error) {
			got, err := modules.Render(ctx, render.Request{Content: req.Content, KubeVersion: req.KubeVersion, Package: req.Package, Tags: req.Tags,
				Instance: v1alpha1.Instance{Name: req.Name, Namespace: req.Namespace, Module: &v1alpha1.ModuleSource{URL: req.URL},
					Values: req.Values}})
			return toolchain.Rendered{Objects: got.Objects, Images: got.Images, Stages: got.Stages, Findings: got.Findings}, err
		},
	}, nil
}

// registries is the client for registries, of engine and tool chain alike; what they say is masked before it is cut.
func registries(kept *cache.Cache, redactor *redact.Redactor) *oci.Client {
	return oci.New(oci.Options{Cache: kept, UserAgent: "hawser/" + version, Redact: redactor.Redact, Tell: redactor.AddSent, Access: access})
}

// access is what flags give for registries.
var access oci.Access

// cacheDir is the directory that --cache-dir names, "" for the usual one.
var cacheDir string

// filled reports whether a path lies where Hawser keeps what it fetched, now or in a run with other flags, or its state.
func filled(path string) bool {
	dirs := []string{cacheDir, cache.Dir(os.Getenv), usualCache()}
	if key := planfile.DefaultKeyFile(os.Getenv).Path; key != "" {
		dirs = append(dirs, filepath.Dir(key))
	}
	return cache.Filled(path, dirs...)
}

// usualCache is where the cache is when nothing names it.
func usualCache() string { return cache.Dir(func(string) string { return "" }) }

// sigstores signs and verifies; what it keeps of the public Sigstore is beside the cache's content.
func sigstores(redactor *redact.Redactor) *sigstore.Sigstore {
	signers.Do(func() {
		dir := storage().Location()
		if dir != "" {
			dir = filepath.Join(dir, "sigstore")
		}
		signers.one = sigstore.New(sigstore.Options{Dir: dir, Redact: redactor.Redact, Tell: redactor.AddSent})
	})
	return signers.one
}

// signers keeps the one of the process.
var signers struct {
	sync.Once
	one *sigstore.Sigstore
}

// verifier verifies the signatures of artifacts.
func verifier(kept *cache.Cache, artifacts *oci.Client, redactor *redact.Redactor) *signature.Checker {
	return &signature.Checker{Store: artifacts, Verifier: sigstores(redactor), Notes: kept}
}

// storage is this process's cache. When nothing can be kept it says so, once.
var storage = sync.OnceValue(func() *cache.Cache {
	return cache.Open(cache.Options{Dir: cmp.Or(cacheDir, cache.Dir(os.Getenv)), Usual: cacheDir == "" && os.Getenv(cache.EnvDir) == "", Warn: func(f diag.Finding) {
		if err := report.Findings(terminal.Stderr, diag.Findings{f}, report.Style{Width: 120}); err != nil {
			fmt.Fprintln(terminal.Stderr, f.String())
		}
	}})
})

// openStore makes the store of secrets that a fleet declares.
func openStore(s v1alpha1.SecretStore, secrets values.Secrets) (secret.Store, error) {
	switch {
	case s.Env != nil:
		return env.New(s.Env.Prefix), nil
	case s.File != nil:
		dir, err := storeDir(s.File.Dir, s.File.Path)
		return secretfile.New(dir), err
	case s.SOPS != nil:
		dir, err := storeDir(s.SOPS.Dir, s.SOPS.Path)
		if err != nil {
			return nil, err
		}
		o := sops.Options{Dir: dir, KeyEnv: s.SOPS.Age.KeyEnv}
		if s.SOPS.Age.KeyFile != "" {
			o.KeyFile = below(s.SOPS.Dir, s.SOPS.Age.KeyFile)
		}
		return sops.New(o), nil
	case s.Kube != nil:
		return secretkube.New(s.Kube.Namespace, secretkube.Getter(secrets)), nil
	}
	return nil, errors.New("the store is of no kind that is known")
}

// envStoreDirs names directories beside the fleet's own repository that its stores may read: who runs Hawser says so, and not
// the fleet, which may come from a pull request.
const envStoreDirs = "HAWSER_STORE_DIRS"

// storeDir is the directory of a store of files, which lies in the repository of the fleet's file or in $HAWSER_STORE_DIRS.
func storeDir(dir, path string) (string, error) {
	if err := misplaced.File("path of a store of the fleet's file", "a secret", path); err != nil {
		return "", err
	}
	at, err := rootfs.Named(dir, below("", path), filepath.SplitList(os.Getenv(envStoreDirs))...)
	if err != nil {
		err = &secret.OutsideError{Err: fmt.Errorf("the store's directory %w", err),
			Fix: "put it into the repository of the fleet's file; or whoever runs Hawser names it in " + envStoreDirs + ", which no file can"}
	}
	return at, err
}

// below is a path of a fleet file: relative to the file's directory, ~ is the user's home.
func below(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// recordStores says how the record store of a cluster is opened for a fleet: in the cluster, or in a directory or a bucket, which is opened
// when it is needed. server is what buckets have in common, get resolves references.
func recordStores(f *v1alpha1.FleetSpec, server blob.Server, get func(context.Context, string) (string, error)) func(*cluster.Session, string) release.Store {
	if !f.Outside() {
		return func(s *cluster.Session, name string) release.Store { return kube.New(records{s.REST()}, name) }
	}
	bucket := bucketOf(f.Releases.Store, server, get)
	return func(s *cluster.Session, name string) release.Store {
		own := kube.Own(records{s.REST()}, name)
		key := own.Key
		if ref := f.Releases.Encryption.Key; ref != "" {
			key = func(ctx context.Context, _ bool) ([]byte, error) {
				text, err := get(ctx, ref)
				return []byte(text), err
			}
		}
		return blob.New(blob.Options{Bucket: bucket, Cluster: name, Fleet: f.Name, Key: key, Own: own, Scope: func() (string, error) {
			if facts := s.Facts(); !facts.WeakUID && facts.UID != "" {
				return facts.UID, nil
			}
			return "", errors.New("it may not be read: whoever runs Hawser needs the right to get the Namespace kube-system")
		}})
	}
}

// bucketOf is what a fleet keeps its records in.
func bucketOf(s v1alpha1.ReleaseStore, server blob.Server, get func(context.Context, string) (string, error)) *blob.Lazy {
	// resolve puts what references name where it belongs.
	resolve := func(ctx context.Context, texts map[*string]string) error {
		for to, text := range texts {
			var err error
			if *to, err = get(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case s.File != nil:
		path := below(s.File.Dir, s.File.Path)
		if err := misplaced.File("releases.store.file.path of the fleet's file", "a file", s.File.Path); err != nil {
			return &blob.Lazy{Name: "directory", Open: func(context.Context) (blob.Bucket, error) { return nil, err }}
		}
		return &blob.Lazy{Name: "directory " + path, Open: func(context.Context) (blob.Bucket, error) { return blob.OpenDir(path) }}
	case s.GCS != nil:
		return gcsBucket(s.GCS, server, get)
	case s.Azure != nil:
		o := blob.AzureOptions{Account: s.Azure.Account, Container: s.Azure.Container, Prefix: s.Azure.Prefix, Endpoint: s.Azure.Endpoint, Server: server}
		return &blob.Lazy{Name: o.String(), Open: func(ctx context.Context) (blob.Bucket, error) {
			if given := s.Azure.Credentials; given != nil {
				if err := resolve(ctx, map[*string]string{&o.Key: given.Key, &o.SAS: given.SAS}); err != nil {
					return nil, err
				}
			}
			return opened(blob.NewAzure(o))
		}}
	}
	o := blob.S3Options{Bucket: s.S3.Bucket, Prefix: s.S3.Prefix, Region: s.S3.Region, Endpoint: s.S3.Endpoint, PathStyle: s.S3.PathStyle,
		Server: server, Credentials: blob.S3Credentials{Profile: s.S3.Profile}}
	return &blob.Lazy{Name: o.String(), Open: func(ctx context.Context) (blob.Bucket, error) {
		if given := s.S3.Credentials; given != nil {
			to := &o.Credentials
			if err := resolve(ctx, map[*string]string{&to.AccessKeyID: given.AccessKeyID, &to.SecretAccessKey: given.SecretAccessKey, &to.SessionToken: given.SessionToken}); err != nil {
				return nil, err
			}
		}
		return opened(blob.NewS3(o))
	}}
}

// gcsBucket is bucketOf for Google Cloud Storage, where a key may be a file.
func gcsBucket(s *v1alpha1.GCSReleases, server blob.Server, get func(context.Context, string) (string, error)) *blob.Lazy {
	o := blob.GCSOptions{Bucket: s.Bucket, Prefix: s.Prefix, Endpoint: s.Endpoint, Server: server}
	return &blob.Lazy{Name: o.String(), Open: func(ctx context.Context) (blob.Bucket, error) {
		switch given := s.Credentials; {
		case given == nil:
		case given.Path != "":
			if err := misplaced.File("releases.store.gcs.credentials.path of the fleet's file", "a key of a service account", given.Path); err != nil {
				return nil, err
			}
			data, err := rootfs.ReadFile(below(given.Dir, given.Path), maxCredentials)
			if err != nil {
				return nil, fmt.Errorf("releases.store.gcs.credentials.path of the fleet's file: %w", err)
			}
			o.Key = data
		default:
			key, err := get(ctx, given.Key)
			if err != nil {
				return nil, err
			}
			o.Key = []byte(key)
		}
		return opened(blob.NewGCS(o))
	}}
}

// maxCredentials bounds a file of credentials.
const maxCredentials = 64 << 10

// opened is a bucket, or nil with the reason.
func opened[B blob.Bucket](b B, err error) (blob.Bucket, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// exceeded says why an evaluation was ended, and with it the process; writes is whether a cluster was being written.
func exceeded(w io.Writer, f diag.Finding, writes bool) {
	f.Fix = "nothing was written; simplify the bundle or the module"
	if writes {
		f.Fix = "clusters may be written in part: hawser status tells what they have, and the same command goes on; simplify the module, or its health checks"
	}
	if err := report.Findings(w, diag.Findings{f}, report.Style{Width: 120}); err != nil {
		fmt.Fprintln(w, f.String())
	}
}

// records gives a cluster's session to the record store.
type records struct{ *kubeapi.RESTClient }

// Delete deletes one object.
func (r records) Delete(ctx context.Context, path string, body any) error {
	return r.RESTClient.Delete(ctx, path, nil, body, nil)
}
