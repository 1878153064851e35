package reference

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
)

// A flag that only Timoni's commands know is not offered elsewhere.
func TestNearFlagIsKnown(t *testing.T) {
	for path, want := range map[string]string{"hawser apply": "--adopt", "hawser bundle apply": "did you mean --force?"} {
		cmd := command(t, path)
		cmd.Flags().Bool("recreate", false, "")
		if err := FlagError(cmd, errors.New("unknown flag: --forse")); !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "--force") != (path != "hawser apply") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// An instance and its source name every kind of source that a directory may be.
func TestNameAndSource(t *testing.T) {
	for source, want := range map[string]string{"./web": `helm: {chart: "./web"} or module: {url: "file://./web"}`, "oci://r/web": `{web: {module: {url: "oci://r/web"}, namespace`} {
		if got := NameAndSource([]string{"web", source}); !strings.Contains(got, want) {
			t.Errorf("%s: %q", source, got)
		}
	}
}

// Words of other tools get one line with our way, and no likeness to some other flag.
func TestWordsOfOtherTools(t *testing.T) {
	root := &cobra.Command{Use: "hawser"}
	root.AddCommand(&cobra.Command{Use: "plan", Run: func(*cobra.Command, []string) {}})
	fix := func(err error) string {
		var fe *diag.FindingsError
		if !errors.As(err, &fe) || len(fe.Findings) != 1 {
			t.Fatalf("%v", err)
		}
		return fe.Findings[0].Fix
	}
	for word, want := range map[string]string{"sync": "hawser apply", "get": "hawser status", "undo": "hawser rollback NAME",
		"rollout": "hawser history", "rollout undo": "hawser rollback", "rollout status": "hawser status", "rollout history": "hawser history", "rollout pause deploy/x": "--until-wave",
		"rollout resume": "goes on", "rollout restart": "kubectl rollout restart", "log": "hawser history", "releases": "hawser history", "revisions": "hawser history",
		"show x.plan": "hawser plan show", "show values ./web": "values.yaml", "show chart ./web": "Chart.yaml", "dependency update": "helm dependency update", "dep build": "charts/",
		"app sync web": "hawser apply", "app get web": "hawser status", "app": "hawser drift", "repo add x https://x": "repo: URL", "kustomize build .": "kustomize: {path: DIR}", "get manifest web": "hawser inspect resources", "get hooks web": "hawser build", "get notes web": "hawser status",
		"get values web": "--explain-value", "test web": "--test", "describe": "hawser status", "taint x": "--recreate", "output": "hawser inspect", "state list": "hawser list", "import": "--adopt", "create": "a file that you write", "unlock": "hawser release unlock", "logs": "kubectl logs",
		"reject x": "hawser abort NAME", "unpause x": "hawser resume NAME", "cancel x": "hawser abort NAME"} {
		if got := fix(NoSuchCommand(root, strings.Fields(word))); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", word, got)
		}
	}
	for flag, want := range map[string]string{"set": "values", "values": "values", "target": "--cluster", "prune": "deletes what left",
		"force": "--adopt", "version": "version", "diff": "hawser diff", "revision": "--to RELEASE",
		"to-revision": "--to RELEASE", "atomic": "onFailure: rollback", "dry-run": "hawser plan", "cleanup-on-fail": "hawser rollback", "history-max": "revisionHistoryLimit", "var": "values",
		"skip-crds": "skipCRDs: true", "set-file": "as: text", "set-string": "values", "reuse-values": "values stand", "take-ownership": "--adopt", "force-conflicts": "--adopt",
		"description": "-m", "max-history": "revisionHistoryLimit", "max": "hawser history", "limit": "hawser history", "skip-schema-validation": "skipSchema: true", "kube-version": "--facts", "api-versions": "--facts",
		"cascade": "hawser eject NAME", "all-namespaces": "all namespaces are looked at", "parallelism": "maxParallel", "lock": "--locked",
		"ignore-windows": "--skip-windows", "show-only": "--output-dir", "refresh-only": "hawser drift", "destroy": "hawser delete", "replace": "--recreate"} {
		if got := fix(FlagError(root, errors.New("unknown flag: --"+flag))); !strings.Contains(got, want) || strings.Contains(got, "did you mean") {
			t.Errorf("--%s: %q", flag, got)
		}
	}
	if got := fix(FlagError(root, errors.New(`invalid argument "server" for "--dry-run" flag: strconv.ParseBool: parsing "server": invalid syntax`))); !strings.Contains(got, "--server-check") {
		t.Errorf("--dry-run=server: %q", got)
	}
	if got := fix(FlagError(root, errors.New("unknown shorthand flag: 'k' in -k"))); !strings.Contains(got, "kustomize: {path: DIR}") {
		t.Errorf("-k: %q", got)
	}
	if got := fix(Exactly("BUNDLE")(command(t, "hawser rollback"), []string{"shop", "41"})); got != "the release is named with --to: hawser rollback shop --to 41" {
		t.Errorf("a release behind the bundle: %q", got)
	}
	back := command(t, "hawser rollback")
	for _, text := range []string{"unknown shorthand flag: 'f' in -f", "unknown flag: --file"} {
		if back.Use = "rollback BUNDLE [--to RELEASE]"; !strings.Contains(fix(FlagError(back, errors.New(text))), "name the bundle, hawser rollback BUNDLE") {
			t.Errorf("files of a rollback: %q", fix(FlagError(back, errors.New(text))))
		}
	}
	if got := fix(FlagError(root, errors.New("unknown shorthand flag: 'd' in -destroy"))); !strings.Contains(got, "hawser delete") {
		t.Errorf("-destroy: %q", got)
	}
	for _, arg := range []string{"-destroy", "-refresh-only", "-target=x", "-replace=x"} {
		if got := fix(SingleDash(root, []string{"plan", arg})); !strings.Contains(got, "hawser ") && !strings.Contains(got, "--") {
			t.Errorf("%s: %q", arg, got)
		}
	}
	apply := command(t, "hawser apply")
	apply.Flags().StringArray("file", nil, "")
	for args, want := range map[string]string{"web ./web": `helm: {chart: "./web"}`, "web oci://x/y": `module: {url: "oci://x/y"}`, "a.plan b.plan": "--help", "one two": "--help"} {
		for name, takes := range map[string]cobra.PositionalArgs{"none": Nothing, "one": AtMostOne("plan file")} {
			if got := fix(takes(apply, strings.Fields(args))); !strings.Contains(got, want) {
				t.Errorf("%s, taking %s: %q", args, name, got)
			}
		}
	}
	if got := fix(NoSuchCommand(root, []string{"paln"})); !strings.Contains(got, "did you mean plan") {
		t.Errorf("a mistyped command: %q", got)
	}
}

// command is the command of a path.
func command(t *testing.T, path string) *cobra.Command {
	t.Helper()
	var cmd *cobra.Command
	for word := range strings.FieldsSeq(path) {
		c := &cobra.Command{Use: word, Run: func(*cobra.Command, []string) {}}
		if cmd != nil {
			cmd.AddCommand(c)
		}
		cmd = c
	}
	return cmd
}

// A word that is no subcommand is what is wrong, and not the flag behind it.
func TestWrongSubcommand(t *testing.T) {
	history := command(t, "hawser history")
	history.SetFlagErrorFunc(FlagError)
	show := &cobra.Command{Use: "show", Run: func(*cobra.Command, []string) {}}
	show.Flags().Bool("full", false, "")
	history.AddCommand(show)
	root := history.Root()
	for _, c := range []struct{ args, want string }{
		{"history shwo 4 --full", "did you mean show?"}, {"history undo --to-revision=3", "hawser rollback NAME"}, {"history rollback shop --to 3", "hawser rollback NAME"},
		{"rollout undo deploy/x --to-revision=3", "hawser rollback NAME"}, {"history shop --to-revision=3", "--to RELEASE"},
		{"history shop --wide", "unknown flag: --wide"}} {
		args := strings.Fields(c.args)
		err := UnknownCommand(root, args)
		if err == nil {
			err = history.ParseFlags(args[1:])
			if err != nil {
				err = FlagError(history, err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	if err := UnknownCommand(root, []string{"history", "shop"}); err != nil {
		t.Errorf("the name of a bundle: %v", err)
	}
}

// A bundle's name behind plan is answered as behind apply, also where it is nearly the name of a subcommand; two words are one.
func TestNameBehindPlan(t *testing.T) {
	for _, c := range []struct {
		args  string
		files bool
		want  string
	}{
		{"shop", false, "hawser plan -f FILE --bundle shop is for a bundle of that name; did you mean hawser plan show?"},
		{"shop", true, "did you mean --bundle shop? It chooses one of several bundles in the files"},
		{"web", false, "--bundle web chooses one of several bundles in them"}, {"shwo x.plan", false, "did you mean show?"},
	} {
		cmd := command(t, "hawser plan")
		cmd.Flags().StringArray("file", nil, "")
		cmd.Flags().String("bundle", "", "")
		cmd.AddCommand(&cobra.Command{Use: "show", Run: func(*cobra.Command, []string) {}})
		if c.files {
			if err := cmd.ParseFlags([]string{"--file", "x"}); err != nil {
				t.Fatal(err)
			}
		}
		err := Nothing(cmd, strings.Fields(c.args))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

// A flag of another tool is answered by what it would do to the command; so is a word below one.
func TestWordsOfOneCommand(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{FlagError(command(t, "hawser delete"), errors.New("unknown flag: --force")), "hawser eject NAME"},
		{FlagError(command(t, "hawser status"), errors.New("unknown shorthand flag: 'A' in -A")), "all namespaces"},
		{FlagError(command(t, "hawser registry login"), errors.New("unknown shorthand flag: 'p' in -p")), "--password-stdin"},
		{NoSuchCommand(command(t, "hawser cache"), []string{"clear"}), "hawser cache prune --all"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}
