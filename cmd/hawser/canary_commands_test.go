package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// canaryRun is one command line that TestCanaries runs in the scene with the canaries, in order, before and after a rotation.
type canaryRun struct {
	command string // as it is registered
	code    int
	args    string // with $BUNDLE for the bundle's name, $FILES for the bundle's and the fleet's flags, $FLEET for the fleet's
}

// canaryRuns are the commands that may come to see a secret value. What one prints, and a file that one writes, is searched.
var canaryRuns = []canaryRun{
	{"vet", 0, "$FILES --print-value"},
	{"vet", 0, "$FILES -o json"},
	{"vet", 0, "$FILES --explain-value app.settings"},
	{"build", 0, "$FILES --mask-secrets"},
	{"plan", 0, "$FILES -v --full"},
	{"plan", 0, "$FILES --full -o json"},
	{"plan", 0, "$FILES --full -o yaml"},
	{"plan", 0, "$FILES --full -o markdown"},
	{"plan", 0, "$FILES --server-check"},
	{"diff", 1, "$FILES"},
	{"plan", 0, "$FILES --out shop.plan"},
	{"plan show", 0, "shop.plan -o text"},
	{"plan show", 0, "shop.plan -o json"},
	{"plan show", 0, "shop.plan -o markdown"},
	{"fleet check", 0, "$FILES"},
	{"fleet values", 0, "$FLEET"},
	{"fleet values", 0, "$FLEET -o json"},
	{"fleet snapshot", 0, "$FLEET"},
	{"fleet ls", 0, "$FLEET"},
	{"outdated", 1, "$FILES -o json"},
	{"apply", 0, "$FILES -y --diff -o json --wait=false"},
	{"status", 0, "$BUNDLE $FLEET -o json"},
	{"status", 0, "$BUNDLE $FLEET -v"},
	{"list", 0, "$FLEET -o json"},
	{"inspect module", 0, "app --bundle $BUNDLE $FLEET -o json"},
	{"inspect resources", 0, "app --bundle $BUNDLE $FLEET -o json"},
	{"inspect values", 1, "app --bundle $BUNDLE $FLEET -o json"},
	{"history", 0, "$BUNDLE $FLEET -o json"},
	{"history show", 0, "1 --bundle $BUNDLE $FLEET"},
	{"history show", 0, "1 --bundle $BUNDLE $FLEET -o json"},
	{"history diff", 0, "1 1 --bundle $BUNDLE $FLEET --full"},
	{"history diff", 0, "1 1 --bundle $BUNDLE $FLEET -o json"},
	{"drift", 0, "$BUNDLE $FLEET --full"},
	{"drift", 0, "$BUNDLE $FLEET -o json"},
	{"drift", 0, "$BUNDLE $FLEET --correct --dry-run --full"},
	{"drift", 0, "$BUNDLE $FLEET --correct -y -o json --wait=false"},
	{"approve", 1, "$BUNDLE $FLEET -y"},
	{"pause", 1, "$BUNDLE $FLEET -y -o json"},
	{"resume", 1, "$BUNDLE $FLEET"},
	{"abort", 1, "$BUNDLE $FLEET -y"},
	{"release unlock", 0, "$BUNDLE $FLEET -y"},
	{"release unlock", 0, "$BUNDLE $FLEET -y -o json"},
	{"eject", 0, "$BUNDLE $FLEET --dry-run --full"},
	{"eject", 0, "$BUNDLE $FLEET --dry-run -o json"},
	{"runtime build", 0, "-f fleet.cue"},
	{"runtime build", 0, "-f fleet.cue -o json"},
	{"fleet retire", 0, "staging --delete --dry-run -f shop.cue --fleet left.cue --full"},
	{"fleet retire", 0, "staging --delete --dry-run -f shop.cue --fleet left.cue -o json"},
	{"cache ls", 0, ""},
	{"plan", 0, "$FILES"},
}

// canaryElsewhere are commands that may see a value and are not in canaryRuns, with where they are searched, or why they need
// not be.
var canaryElsewhere = map[string]string{
	"promote":                 "it reads versions, digests and names of images of records, and shows the lines of files that it changes and no others; cmd/hawser.TestPromotion",
	"rollback":                "TestCanaries goes back from its third release to the second, when all of them are there",
	"release move":            "what it prints are names of stores; TestReleaseStores searches the store and what every command says",
	"delete":                  "TestCanaries deletes the bundle at its end",
	"lock":                    "TestCanaries locks at its end, and searches hawser.lock: the pins would change every plan after it",
	"fleet import kubeconfig": "it prints names and addresses of a kubeconfig; internal/fleet/kubeconfig.TestImport",
	"bundle apply":            "another spelling of apply",
	"bundle build":            "another spelling of build",
	"bundle delete":           "another spelling of delete",
	"bundle status":           "another spelling of status",
	"bundle vet":              "another spelling of vet",
	"registry login":          "internal/module/oci.TestLogin: the password is hidden in its errors",
	"registry logout":         "it is given the name of a registry alone",
	"cache prune":             "it prints numbers; what the cache holds is searched by TestCanaries itself",
	"fmt":                     "it reads a file and writes it in another form; it resolves nothing",
	"schema":                  "it prints what the program itself holds",
	"version":                 "it prints what the program itself holds",
	"completion":              "it prints what the program itself holds",
	"docgen":                  "it prints what the program itself holds",
	"help":                    "it prints what the program itself holds",
	"sandbox":                 "it starts another program, with its own output",
}

// blindTo are the beginnings of commands that know no store and no cluster, and of a fleet only who signs.
var blindTo = []string{"module ", "artifact "}

// TestEveryCommandIsInTheCanaryHarness: a command that is registered is either run with canaries in all inputs, or it is said why it need not be.
func TestEveryCommandIsInTheCanaryHarness(t *testing.T) {
	t.Parallel()
	verbs := app().Verbs()
	if len(verbs) < 20 {
		t.Fatalf("only %d commands are registered", len(verbs))
	}
	run := map[string]bool{}
	for _, r := range canaryRuns {
		run[r.command] = true
		if verbs[r.command] == nil {
			t.Errorf("there is no command %q any more: take it out of canaryRuns", r.command)
		}
	}
	for command := range canaryElsewhere {
		if verbs[command] == nil && command != "help" && command != "completion" {
			t.Errorf("there is no command %q any more: take it out of canaryElsewhere", command)
		}
	}
	for _, command := range slices.Sorted(maps.Keys(verbs)) {
		blind := slices.ContainsFunc(blindTo, func(head string) bool { return strings.HasPrefix(command+" ", head) })
		reaches := slices.ContainsFunc(verbs[command], func(flag string) bool { return flag == "fleet" && !blind || flag == "kubeconfig" || flag == "runtime" })
		switch {
		case run[command] || canaryElsewhere[command] != "":
		case blind && !reaches:
		default:
			t.Errorf("hawser %s is not searched for secret values: add how it is run to canaryRuns, one line for each form of its output, or why it cannot see any to canaryElsewhere",
				command)
		}
	}
}

// outputs runs every command that shows something and checks what it prints. apply is among them.
func (s *scene) outputs(quiet func(where, text string)) {
	s.t.Helper()
	expand := strings.NewReplacer("$BUNDLE", s.bundle, "$FILES", "-f shop.cue --fleet fleet.cue --runtime-from-env", "$FLEET", "--fleet fleet.cue")
	for _, run := range canaryRuns {
		args := strings.Fields(run.command + " " + expand.Replace(run.args))
		r := s.want(run.code, args...)
		quiet("hawser "+strings.Join(args, " "), r.Stdout+r.Stderr)
		if file, ok := strings.CutPrefix(run.args, "$FILES --out "); ok {
			quiet("the file "+file, unpacked([]byte(s.read(file))))
		}
	}
}
