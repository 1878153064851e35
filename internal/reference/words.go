package reference

import (
	"regexp"
	"strings"
)

// commandWords are words of other tools that people type as a command, with our way.
var commandWords = map[string]string{
	"sync":         "hawser apply -f BUNDLE makes the clusters what the files say; nothing runs in them",
	"template":     "hawser build -f BUNDLE shows what is rendered",
	"get":          "hawser list shows what was delivered, hawser status NAME -v how it is; kubectl get shows objects",
	"login":        "hawser registry login REGISTRY",
	"logout":       "hawser registry logout REGISTRY",
	"init":         "hawser module init NAME begins a module; a bundle is a file that you write",
	"push":         "hawser module push or hawser artifact push",
	"pull":         "hawser module pull or hawser artifact pull",
	"deploy":       "hawser apply -f BUNDLE installs and upgrades",
	"up":           "hawser apply -f BUNDLE installs and upgrades",
	"down":         "hawser delete NAME",
	"validate":     "hawser vet -f BUNDLE checks; hawser plan -f BUNDLE shows what would change",
	"test":         "hawser apply -f BUNDLE --test runs the tests of charts",
	"refresh":      "hawser plan, status and drift always read the clusters",
	"refresh-only": "hawser drift NAME compares what is recorded with what is live",
	"self-heal":    "hawser drift NAME --correct puts right what others changed",
	"reconcile":    "hawser drift NAME --correct puts right what others changed; hawser apply -f BUNDLE makes the clusters what the files say",
	"logs":         "hawser status NAME -v shows why something is not ready; kubectl logs shows logs",
	"unlock":       "there is nothing to unlock: hawser status NAME says who is at work, and the lock of a run that died is free after 30 seconds",
	"force-unlock": "there is nothing to unlock: hawser status NAME says who is at work, and the lock of a run that died is free after 30 seconds",
	"install":      "hawser apply -f BUNDLE installs and upgrades",
	"upgrade":      "hawser apply -f BUNDLE installs and upgrades",
	"destroy":      "hawser delete NAME",
}

// commandWordsOf are such words below single commands.
var commandWordsOf = map[string]map[string]string{
	"hawser artifact": {"verify": "hawser artifact pull oci://... --verify cosign --cosign-key KEY takes it only if it is signed", "sign": "hawser artifact push --sign cosign signs what it pushes"},
	"hawser module":   {"verify": "hawser module pull oci://... --verify cosign --cosign-key KEY takes it only if it is signed", "sign": "hawser module push --sign cosign signs what it pushes"},
	"hawser fleet":    {"import-kubeconfig": "hawser fleet import kubeconfig", "list": "hawser fleet ls", "status": "hawser fleet check says whether clusters can be used; hawser status what runs on them"},
}

// flagWords are flags of other tools, with our way.
var flagWords = map[string]string{
	"set":     "values stand in the bundle: instances.NAME.values; what differs by run comes from the environment with --runtime-from-env",
	"values":  "values files stand in the bundle: instances.NAME.values: {from: {file: ./values.yaml}}",
	"target":  "choose clusters with --cluster or --group, a bundle with --bundle",
	"prune":   "apply always deletes what left the bundle; the plan shows it",
	"force":   "fields of others are taken with --adopt, objects are made anew with --recreate",
	"version": "the version of a chart or module stands in the bundle; hawser version shows the program's own",
	"diff":    "hawser diff -f BUNDLE shows the changed fields",
}

// flagWordsOf are such flags of single commands.
var flagWordsOf = map[string]map[string]string{
	"hawser module build": {"format": buildArtifact, "annotation": buildArtifact, "a": buildArtifact, "resolve-symlinks": buildArtifact},
	"hawser bundle build": {"o": "YAML is the one form; --output-dir DIR writes files"},
	"hawser build":        {"o": "YAML is the one form; --output-dir DIR writes files", "output": "YAML is the one form; --output-dir DIR writes files"},
}

const buildArtifact = "module build prints objects; module push DIR --version VERSION -o FILE.tar writes an OCI archive, -o DIR a layout"

// Command is our way of doing what a command of another tool does, where somebody types it below the command with this path
// ("hawser", "hawser module"); "" for any other word.
func Command(path, word string) string {
	if !strings.Contains(path, " ") {
		return commandWords[word]
	}
	return commandWordsOf[path][word]
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

var notAValue = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?(--[\w-]+)" flag: (time|strconv\.(\w+))`)

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
