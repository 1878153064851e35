package reference

import (
	"fmt"
	"maps"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// commandWords are words of other tools that people type as a command, with our way; of two words ("rollout undo") where the
// second one decides.
var commandWords = map[string]string{
	"sync":            "hawser apply -f BUNDLE makes the clusters what the files say; nothing runs in them",
	"get":             "hawser list shows what was delivered, hawser status NAME -v how it is; kubectl get shows objects",
	"get manifest":    "hawser build -f BUNDLE shows what is rendered, hawser inspect resources INSTANCE what was delivered",
	"get hooks":       "hawser build -f BUNDLE shows hooks among the other objects, hawser plan -f BUNDLE those that will run",
	"get notes":       "hawser status NAME -v shows how it is; notes of charts (NOTES.txt) are not kept",
	"get values":      "hawser inspect values INSTANCE says where they are, hawser vet -f BUNDLE --explain-value INSTANCE.PATH which layer decided one",
	"describe":        "hawser status NAME -v shows every object and why it is not ready, hawser history show RELEASE a release; kubectl describe shows objects",
	"show":            "hawser plan show FILE shows a saved plan, hawser history show RELEASE a release, hawser module show info MODULE a module",
	"show values":     "hawser module show values MODULE shows the default values of a module; those of a chart are its values.yaml",
	"show chart":      ofChart,
	"show readme":     "hawser module show readme MODULE shows that of a module; a chart's is its README.md",
	"show crds":       "hawser build -f BUNDLE shows what is rendered, definitions too",
	"show all":        ofChart,
	"dependency":      dependency,
	"dependencies":    dependency,
	"dep":             dependency,
	"repo":            "the repository of a chart stands in the bundle: instances.NAME.helm: {repo: URL}; hawser lock -f BUNDLE pins what it has now, hawser outdated -f BUNDLE shows what is newer",
	"search":          "hawser outdated -f BUNDLE shows the newest versions of what a bundle takes, hawser module list oci://... those of a module",
	"kustomize":       "a kustomization stands in the bundle: instances.NAME.kustomize: {path: DIR}; hawser build -f BUNDLE shows what is rendered",
	"package":         "hawser module push or hawser artifact push; a chart is taken from its directory too",
	"login":           "hawser registry login REGISTRY",
	"logout":          "hawser registry logout REGISTRY",
	"init":            "hawser module init NAME begins a module; a bundle is a file that you write",
	"push":            "hawser module push or hawser artifact push",
	"pull":            "hawser module pull or hawser artifact pull",
	"deploy":          "hawser apply -f BUNDLE installs and upgrades",
	"up":              "hawser apply -f BUNDLE installs and upgrades",
	"down":            "hawser delete NAME",
	"validate":        "hawser vet -f BUNDLE checks; hawser plan -f BUNDLE shows what would change",
	"test":            "hawser apply -f BUNDLE --test runs the tests of charts",
	"refresh":         "hawser plan, status and drift always read the clusters",
	"refresh-only":    "hawser drift NAME compares what is recorded with what is live",
	"self-heal":       "hawser drift NAME --correct puts right what others changed",
	"reconcile":       "hawser drift NAME --correct puts right what others changed; hawser apply -f BUNDLE makes the clusters what the files say",
	"promotion":       promote,
	"kargo":           promote,
	"freight":         promote,
	"rollout promote": promote,
	"compare":         between,
	"logs":            "hawser status NAME -v shows why something is not ready; kubectl logs shows logs",
	"log":             releases,
	"releases":        releases,
	"revisions":       releases,
	"undo":            goBack,
	"revert":          goBack,
	"rollout":         "hawser status NAME -w waits for a rollout, hawser history NAME shows its releases, hawser rollback NAME goes back",
	"rollout undo":    goBack,
	"rollout status":  "hawser status NAME -w waits until everything is ready; hawser apply waits itself",
	"rollout history": releases,
	"rollout pause":   "hawser pause NAME keeps a release from the clusters that it has not come to; hawser apply -f BUNDLE --until-wave N stops after a wave",
	"rollout resume":  "hawser resume NAME lets a paused release go on; hawser apply -f BUNDLE, run again, goes on where the last run stopped",
	"rollout restart": restart,
	"restart":         restart,
	"import":          "hawser fleet import kubeconfig makes a fleet; hawser apply -f BUNDLE --adopt takes over objects that are there",
	"unlock":          unlock,
	"force-unlock":    unlock,
	"install":         "hawser apply -f BUNDLE installs and upgrades",
	"upgrade":         "hawser apply -f BUNDLE installs and upgrades",
	"create":          "a bundle is a file that you write; hawser apply -f BUNDLE installs it",
	"destroy":         "hawser delete NAME",
	"orphan":          eject,
	"app":             "hawser apply -f BUNDLE makes the clusters what the files say, hawser status NAME shows how it is, hawser drift NAME what others changed",
	"app sync":        "hawser apply -f BUNDLE makes the clusters what the files say; nothing runs in them",
	"app get":         "hawser status NAME -v shows how it is",
	"app diff":        "hawser diff -f BUNDLE shows the changed fields, hawser drift NAME what others changed",
	"app list":        "hawser list shows what was delivered",
	"app history":     releases,
	"app rollback":    goBack,
	"app delete":      "hawser delete NAME",
	"app wait":        "hawser status NAME -w waits until everything is ready; hawser apply waits itself",
	"app create":      "a bundle is a file that you write; hawser apply -f BUNDLE installs it",
	"forget":          eject,
	"abandon":         eject,
	"taint":           "hawser apply -f BUNDLE --recreate makes anew what cannot be changed; kubectl rollout restart starts pods anew",
	"reject":          abort,
	"deny":            abort,
	"cancel":          abort,
	"stop":            abort,
	"unpause":         "hawser resume NAME lets a paused release go on",
	"continue":        "hawser resume NAME lets a paused release go on; hawser apply -f BUNDLE, run again, goes on where the last run stopped",
	"untaint":         "nothing is marked to be made anew: hawser plan -f BUNDLE shows what would be",
	"output":          "what was delivered is told by hawser inspect resources INSTANCE and hawser inspect values INSTANCE",
	"state":           "the state is in the clusters: hawser list shows what was delivered, hawser inspect resources INSTANCE the objects, hawser eject NAME lets go of them",
}

const (
	ofChart    = "a chart's Chart.yaml tells; hawser outdated -f BUNDLE shows its versions, hawser module show info MODULE shows a module"
	dependency = "what lies in the charts/ of a chart is taken; helm dependency update DIR puts it there"

	releases   = "hawser history NAME shows the releases, hawser history show RELEASE one of them"
	goBack     = "hawser rollback NAME goes back to the release before, hawser rollback NAME --to RELEASE to another"
	eject      = "hawser eject NAME leaves what was delivered running, without Hawser's marks"
	promote    = "hawser promote NAME -f BUNDLE --from GROUP --to GROUP writes what runs on one group into the files for another"
	between    = "hawser diff --between A,B compares what two groups or clusters run, hawser history diff A B two releases"
	restart    = "kubectl rollout restart starts pods anew; fields that a bundle does not declare are no drift"
	everywhere = "all namespaces are looked at; hawser list -n NAMESPACE narrows"
)

// commandWordsOf are such words below single commands.
var commandWordsOf = map[string]map[string]string{
	"hawser module":  {"verify": "hawser module pull oci://... --verify cosign --cosign-key KEY takes it only if it is signed", "sign": "hawser module push --sign cosign signs what it pushes"},
	"hawser fleet":   {"import-kubeconfig": "hawser fleet import kubeconfig", "status": "hawser fleet check says whether clusters can be used; hawser status what runs on them"},
	"hawser history": {"undo": goBack, "rollback": goBack, "log": releases, "get": releases, "describe": releases, "ls": releases, "list": releases},
	"hawser diff":    {"release": between, "revision": between, "upgrade": "hawser diff -f BUNDLE shows what an apply would change, field by field"},
	"hawser plan":    {"apply": "hawser apply FILE carries a saved plan out"},
	"hawser cache":   {"clear": clearCache, "clean": clearCache, "rm": clearCache, "delete": clearCache, "purge": clearCache},
}

// flagWords are flags of other tools, with our way; those of one letter too.
var flagWords = map[string]string{
	"set":                     "values stand in the bundle: instances.NAME.values; what differs by run comes from the environment with --runtime-from-env",
	"var":                     "values stand in the bundle: instances.NAME.values; what differs by run comes from the environment with --runtime-from-env",
	"var-file":                "values files stand in the bundle: instances.NAME.values: {from: {file: ./values.yaml}}",
	"values":                  "values files stand in the bundle: instances.NAME.values: {from: {file: ./values.yaml}}",
	"target":                  "choose clusters with --cluster or --group, a bundle with --bundle",
	"prune":                   "apply always deletes what left the bundle; the plan shows it",
	"force":                   "fields of others are taken with --adopt, objects are made anew with --recreate",
	"version":                 "the version of a chart or module stands in the bundle; hawser version shows the program's own",
	"dry-run":                 "hawser plan and hawser diff write nothing; --server-check asks the API servers, admission included",
	"diff":                    "hawser diff -f BUNDLE shows the changed fields",
	"revision":                "hawser history show RELEASE shows one release, hawser rollback NAME --to RELEASE goes back to it",
	"to-revision":             "hawser rollback NAME --to RELEASE goes back to a release, by its number or rollout",
	"atomic":                  whenItFails,
	"rollback-on-failure":     whenItFails,
	"cleanup-on-fail":         "what a failed rollout made stays for the next apply, which goes on; hawser rollback NAME deletes it",
	"history-max":             "how many releases are kept stands in the bundle: revisionHistoryLimit",
	"install":                 "hawser apply -f BUNDLE installs and upgrades",
	"create-namespace":        "apply makes the namespaces of instances that are missing",
	"skip-crds":               "skipCRDs: true stands in the bundle: instances.NAME.helm",
	"include-crds":            "the definitions of a chart are always shown and applied; skipCRDs: true in instances.NAME.helm leaves them out",
	"set-file":                "a file as a value stands in the bundle: instances.NAME.values: {KEY: {from: {file: ./FILE, as: text}}}",
	"set-string":              "values stand in the bundle, a text in quotes: instances.NAME.values: {KEY: \"1\"}",
	"set-json":                "values stand in the bundle: instances.NAME.values",
	"set-literal":             "values stand in the bundle, a text in quotes: instances.NAME.values",
	"reuse-values":            "values stand in the bundle, and those of the last release are never taken instead",
	"reset-values":            "values stand in the bundle, and those of the last release are never taken instead",
	"reset-then-reuse-values": "values stand in the bundle, and those of the last release are never taken instead",
	"take-ownership":          "--adopt takes over what others have",
	"force-conflicts":         "--adopt takes fields and objects that others have",
	"force-replace":           "--recreate makes objects anew",
	"server-side":             "apply is always server-side; --adopt takes fields that others have",
	"description":             "-m TEXT says why",
	"max-history":             "how many releases are kept stands in the bundle: revisionHistoryLimit",
	"limit":                   "hawser history NAME shows all releases that are kept; how many stands in the bundle: revisionHistoryLimit",
	"max":                     "hawser history NAME shows all releases that are kept; how many stands in the bundle: revisionHistoryLimit",
	"skip-schema-validation":  "skipSchema: true stands in the bundle: instances.NAME.helm",
	"kube-version":            "--facts FILE gives versions and kinds of clusters that are not asked; hawser fleet snapshot writes it",
	"api-versions":            "--facts FILE gives versions and kinds of clusters that are not asked; hawser fleet snapshot writes it",
	"show-only":               "hawser build -f BUNDLE --output-dir DIR writes a file for each object",
	"refresh-only":            "hawser drift NAME compares what is recorded with what is live",
	"destroy":                 "hawser delete NAME deletes, and hawser delete NAME --dry-run shows what",
	"replace":                 "--recreate makes anew what cannot be changed",
	"dependency-update":       dependency,
	"stage":                   "--from and --to name groups or clusters of the fleet",
	"freight":                 "hawser promote takes the newest release that succeeded on --from; --release chooses another",
	"k":                       "a kustomization stands in the bundle: instances.NAME.kustomize: {path: DIR}",
	"kustomize":               "a kustomization stands in the bundle: instances.NAME.kustomize: {path: DIR}",
	"A":                       everywhere,
	"client":                  "hawser version contacts nobody; hawser fleet check shows the clusters' versions",
	"all-namespaces":          everywhere,
	"cascade":                 "what is deleted goes with all that it owns; " + eject,
	"grace-period":            "pods have the time that they declare: terminationGracePeriodSeconds",
	"keep-history":            "hawser delete NAME deletes the records, too; " + eject,
	"parallelism":             "how many clusters go at once stands in the fleet: rollout.waves, maxParallel",
	"ignore-windows":          skipWindows,
	"ignore-window":           skipWindows,
	"override-windows":        skipWindows,
	"lock":                    "a bundle is always locked while somebody works on it; --locked takes what hawser.lock pins",
	"lock-timeout":            "a bundle that somebody works on is refused at once, and it is said who that is",
	"retry":                   "the same apply, run again, goes on; a request that fails for a moment is sent again by itself",
}

// flagWordsOf are such flags of single commands.
var flagWordsOf = map[string]map[string]string{
	"hawser delete":         {"force": "what holds an object that does not go is named; finalizers are taken off with kubectl. " + eject, "keep": eject, "n": byBundle, "namespace": byBundle},
	"hawser drift":          {"fix": correct, "repair": correct, "heal": correct, "revert": correct, "apply": correct, "sync": correct},
	"hawser registry login": {"p": passwordStdin, "password": passwordStdin},
	"hawser status":         {"n": byBundle, "namespace": byBundle},
	"hawser rollback":       {"force": "fields of others are taken with --adopt, objects are made anew with --recreate; --confirm-delete=N confirms deletions"},
	"hawser module build":   {"format": buildArtifact, "annotation": buildArtifact, "a": buildArtifact, "resolve-symlinks": buildArtifact},
	"hawser bundle build":   {"o": "YAML is the one form; --output-dir DIR writes files"},
	"hawser build":          {"o": "YAML is the one form; --output-dir DIR writes files", "output": "YAML is the one form; --output-dir DIR writes files"},
}

const passwordStdin = "there is no flag for a password, which others would see: echo $PASSWORD | hawser registry login REGISTRY -u USER --password-stdin"

const clearCache = "hawser cache prune --all removes everything, hawser cache prune what was not used for 30 days"

const whenItFails = "a rollout that fails stops in its wave; hawser rollback NAME goes back, and onFailure: rollback in the fleet's rollout by itself"

const unlock = "the lock of a run that died is free after 30 seconds, and hawser status NAME says who is at work; hawser release unlock NAME takes a lock away"

const abort = "hawser abort NAME ends a release that waits or is paused, on the clusters that it has not come to; hawser rollback NAME goes back on the others"

const correct = "hawser drift NAME --correct puts right what others changed"

const skipWindows = "--skip-windows changes clusters also while the window of their wave is closed"

const byBundle = "a bundle is named, wherever its objects are: hawser list -n NAMESPACE shows which have any there"

const buildArtifact = "module build prints objects; module push DIR --version VERSION -o FILE.tar writes an OCI archive, -o DIR a layout"

// Command is our way of doing what a command of another tool does, where somebody types its words below the command with this
// path ("hawser", "hawser module"); "" for any others.
func Command(path string, words ...string) string {
	of := commandWords
	if strings.Contains(path, " ") {
		of = commandWordsOf[path]
	}
	if len(words) > 1 && of[words[0]+" "+words[1]] != "" {
		return of[words[0]+" "+words[1]]
	}
	return of[words[0]]
}

// Ways are all answers to words of other tools, by the command below which they are typed and by those words.
func Ways() map[string]map[string]string {
	out := maps.Clone(commandWordsOf)
	out["hawser"] = commandWords
	return out
}

// NameAndSource is our way where a command is given an instance and what it is made of, as helm install and timoni apply take
// them; "" for other arguments.
func NameAndSource(args []string) string {
	if len(args) != 2 || !strings.Contains(args[1], "/") || strings.ContainsAny(args[0], "/.") {
		return ""
	}
	from := fmt.Sprintf("helm: {chart: %q} or module: {url: %q}", args[1], "file://"+args[1])
	if strings.Contains(args[1], "://") {
		from = fmt.Sprintf("module: {url: %q}", args[1])
	}
	return "they stand in a bundle: instances: {" + args[0] + ": {" + from + ", namespace: ...}}, named with -f"
}

// Arguments are our way where a command of ours is given an argument that it takes not, as that of another tool does.
func Arguments(path string, args []string) string {
	if path == "hawser rollback" && len(args) == 2 {
		return "the release is named with --to: hawser rollback " + args[0] + " --to " + args[1]
	}
	return path + " --help shows how"
}

// Flag is our way of doing what a flag of another tool does, "" for any other word.
func Flag(word string) string {
	word, _, _ = strings.Cut(word, "=")
	return flagWords[word]
}

// FlagOf is Flag for the words that one of our commands alone answers so: its path is "hawser module build".
func FlagOf(command, word string) string {
	word, _, _ = strings.Cut(word, "=")
	return flagWordsOf[command][word]
}

var notAValue = lazyregexp.New(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?(--[\w-]+)" flag: (time|strconv\.(\w+))`)

// WrongValue says in words that a flag's value is of another kind than it takes; "" for any other mistake.
func WrongValue(text string) (what, fix string) {
	m := notAValue.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "", ""
	case m[3] == "time":
		return m[2] + " takes a duration, not " + m[1], "write it with its unit, for example " + m[2] + " 90s or " + m[2] + " 5m"
	case m[4] == "ParseBool":
		return m[2] + " is true or false, not " + m[1], m[2] + " alone means yes, " + m[2] + "=false no"
	}
	return m[2] + " takes a whole number, not " + m[1], "for example " + m[2] + " 3"
}
