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

// canaryRuns are the commands that may come to see a secret value. What one prints, and a file that one writes, is searched. $FORMS stands for each
// form of output that the command registers, so that a new one is searched by being registered.
var canaryRuns = []canaryRun{
	{"vet", 0, "$FILES --print-value"},
	{"vet", 0, "$FILES $FORMS"},
	{"vet", 0, "$FILES --explain-value app.settings"},
	{"vet", 0, "$FILES --explain-value chart.short --isolate"},
	{"build", 0, "$FILES --mask-secrets"},
	{"build", 0, "$FILES --mask-secrets --isolate"},
	{"plan", 0, "$FILES --full -v $FORMS"},
	{"plan", 0, "$FILES --server-check --isolate"},
	{"diff", 1, "$FILES $FORMS"},
	{"plan", 0, "$FILES --out shop.plan"},
	{"plan show", 0, "shop.plan $FORMS"},
	{"fleet check", 0, "$FILES $FORMS"},
	{"fleet values", 0, "$FLEET $FORMS"},
	{"fleet snapshot", 0, "$FLEET $FORMS"},
	{"fleet ls", 0, "$FLEET $FORMS"},
	{"outdated", 1, "$FILES $FORMS"},
	{"apply", 0, "$FILES --dry-run --full $FORMS"},
	{"apply", 0, "$FILES -y --diff -o json --wait=false"},
	{"status", 0, "$BUNDLE $FLEET $FORMS"},
	{"status", 0, "$BUNDLE $FLEET -v"},
	{"list", 0, "--bundle $BUNDLE $FLEET $FORMS"}, // without it a record that another test spoils is told too
	{"inspect module", 0, "app --bundle $BUNDLE $FLEET $FORMS"},
	{"inspect resources", 0, "app --bundle $BUNDLE $FLEET $FORMS"},
	{"inspect values", 1, "app --bundle $BUNDLE $FLEET $FORMS"},
	{"history", 0, "$BUNDLE $FLEET $FORMS"},
	{"history show", 0, "1 --bundle $BUNDLE $FLEET $FORMS"},
	{"history diff", 0, "1 1 --bundle $BUNDLE $FLEET --full $FORMS"},
	{"drift", 0, "$BUNDLE $FLEET --full $FORMS"},
	{"drift", 0, "$BUNDLE $FLEET --correct --dry-run --full"},
	{"drift", 0, "$BUNDLE $FLEET --correct -y -o json --wait=false"},
	{"approve", 1, "$BUNDLE $FLEET -y $FORMS"},
	{"pause", 1, "$BUNDLE $FLEET -y $FORMS"},
	{"resume", 1, "$BUNDLE $FLEET $FORMS"},
	{"abort", 1, "$BUNDLE $FLEET -y $FORMS"},
	{"release unlock", 0, "$BUNDLE $FLEET -y $FORMS"},
	{"eject", 0, "$BUNDLE $FLEET --dry-run --full $FORMS"},
	{"delete", 0, "$BUNDLE $FLEET --dry-run --full $FORMS"},
	{"runtime build", 0, "-f fleet.cue $FORMS"},
	{"fleet retire", 0, "staging --delete --dry-run -f shop.cue --fleet left.cue --full $FORMS"},
	{"diff", 1, "--between staging,other $BUNDLE --fleet both.cue --full $FORMS"},
	{"cache ls", 0, "$FORMS"},
	{"plan", 0, "$FILES"},
}

// canaryPromotions, canaryMoves and canaryLocks are run by TestCanaries besides, where they leave nothing behind that changes what follows: pins,
// and records in another place, by turns there and back.
var (
	canaryPromotions = []canaryRun{
		{"apply", 0, "$FILES -y"},
		{"promote", 0, "$BUNDLE $FILES --fleet more.cue --from staging --to elsewhere --dry-run $FORMS"},
		{"promote", 0, "$BUNDLE $FILES --fleet more.cue --from staging --to elsewhere --dry-run --sources-only -v --isolate"},
		{"promote", 1, "$BUNDLE $FILES --fleet more.cue --from staging --to elsewhere --dry-run --release 1 $FORMS"},
		{"promote", 0, "$BUNDLE $FILES --from staging --to-fleet fleet.cue,more.cue --to elsewhere --to-file shop.cue --dry-run $FORMS"},
		{"promote", 0, "$BUNDLE $FILES --fleet more.cue --from staging --to elsewhere -y -o json"},
		{"lock", 0, "$FILES $FORMS"},
	}
	canaryMoves = []canaryRun{
		{"release move", 0, "$BUNDLE $FLEET --fleet moved.cue --from cluster -y"},
		{"release move", 0, "$BUNDLE $FLEET --from fleet.cue,moved.cue -y -v"},
	}
	canaryLocks = []canaryRun{
		{"lock", 0, "$FILES $FORMS"},
		{"lock", 0, "$FILES --upgrade * $FORMS"},
		{"lock", 0, "$FILES --bundle $BUNDLE --cluster staging --group staging --upgrade app --isolate -v"},
		{"lock", 0, "-f shop.cue --runtime-from-env -o json"},
	}
)

// canaryElsewhere are commands that may see a value and are not in canaryRuns, with where they are searched, or why they need
// not be.
var canaryElsewhere = map[string]string{
	"rollback":                "TestCanaries goes back from its third release to the second, when all of them are there",
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
	run, forms := map[string]bool{}, map[string]map[string]bool{}
	moves := canaryMoves[0]
	moves.args += " $FORMS" // one after the other, there and back
	for _, r := range slices.Concat(canaryRuns, canaryPromotions, canaryLocks, []canaryRun{moves}) {
		run[r.command] = true
		for _, line := range r.lines(t) {
			_, form, found := strings.Cut(line, "-o ")
			if !found {
				form = "text"
			}
			if forms[r.command] == nil {
				forms[r.command] = map[string]bool{}
			}
			forms[r.command][strings.Fields(form)[0]] = true
		}
		if verbs[r.command] == nil {
			t.Errorf("there is no command %q any more: take it out of canaryRuns", r.command)
		}
	}
	for command, searched := range forms {
		for _, form := range slices.Concat(registeredForms(t, command, false), registeredForms(t, command, true)) {
			if !searched[form] {
				t.Errorf("hawser %s -o %s is not searched for secret values: put $FORMS into its line in canaryRuns", command, form)
			}
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
