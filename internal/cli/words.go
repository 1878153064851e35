package cli

import "strings"

// commandWords are words of other tools that people type as a command, with our way.
var commandWords = map[string]string{
	"rollback":     "apply the files of the earlier revision again: git checkout REVISION, then hawser apply",
	"history":      "hawser status NAME -v shows the last release; the files' history is in git",
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
	"refresh":      "hawser plan and hawser status always read the clusters",
	"drift":        "hawser status NAME shows drift; hawser plan -f BUNDLE what an apply would put back",
	"logs":         "hawser status NAME -v shows why something is not ready; kubectl logs shows logs",
	"unlock":       "there is nothing to unlock: hawser status NAME says who is at work, and the lock of a run that died is free after 30 seconds",
	"force-unlock": "there is nothing to unlock: hawser status NAME says who is at work, and the lock of a run that died is free after 30 seconds",
	"install":      "hawser apply -f BUNDLE installs and upgrades",
	"upgrade":      "hawser apply -f BUNDLE installs and upgrades",
	"destroy":      "hawser delete NAME",
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

// wayOf is our way of doing what a word of another tool does, "" for any other word.
func wayOf(words map[string]string, word string) string {
	word, _, _ = strings.Cut(word, "=")
	return words[word]
}
