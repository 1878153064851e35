package reference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
)

// paths are the variables that name files, directories, switches and names, and no secrets.
var paths = []string{"KUBECONFIG", "DOCKER_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_PROFILE", "AWS_REGION", "AZURE_TOKEN_CREDENTIALS", "SOPS_AGE_KEY_FILE", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}

// ordinaryPair is NAME:VERSION, HOST:PORT, CONTEXT:NAME, a digest, a time, a branch, and what has more parts (an ARN, system:serviceaccount:ci:deployer):
// what stands behind a colon has no other signs than names have.
var ordinaryPair = lazyregexp.New(`^[^:]*:[A-Za-z0-9.@_+-]*$|(?:^|@)sha(?:256|384|512):[0-9a-f]*$|:[^:]*:`)

// ordinarySetting is NAME=VALUE with a value that no password is.
var ordinarySetting = lazyregexp.New(`^[\w./-]+[=:](?:true|false|none|null|yes|no|on|off|enabled|disabled|v?[0-9]{1,3}(?:\.[0-9]+)*)$`)

// unmistakable reports whether an argument is a credential: by its form, or as USER:PASSWORD whose password has signs that no name and no version has.
func unmistakable(arg string) bool {
	return !ordinarySetting.MatchString(arg) && (fleet.SecretVar("", arg) || misplaced.Content(arg) || userPassword.MatchString(arg) && !ordinaryPair.MatchString(arg))
}

// texts are the flags that take whatever somebody writes.
var texts = []string{"m", "message", "reason"}

// Unmistakable are the arguments of a command line that are credentials, wherever they stand in it, with those of their parts that are some
// by themselves: what is printed shows none of them.
func Unmistakable(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil {
		cmd, rest = root, args
	}
	var out []string
	for i, arg := range rest {
		name, value, given := "", arg, false
		if i > 0 && takesNext(cmd, rest[i-1]) {
			name = strings.TrimLeft(rest[i-1], "-")
		} else if strings.HasPrefix(arg, "-") {
			if name, value, given = strings.Cut(strings.TrimLeft(arg, "-"), "="); !given {
				continue
			}
		}
		if ordinarySetting.MatchString(value) {
			continue
		}
		if fleet.SecretVar("", value) || name == "" && unmistakable(value) || name != "" && !slices.Contains(texts, name) && misplaced.Content(value) {
			out = append(out, parts(value)...)
		}
	}
	return longestFirst(out)
}

// Misplaced are credentials in variables of an environment (NAME=VALUE) that should name files, directories, clusters and the like.
func Misplaced(environ []string) []string {
	var out []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(proxies, strings.ToUpper(name)) {
			out = append(out, noProxy(value)...)
			continue
		}
		if (slices.Contains(paths, name) || strings.HasPrefix(name, "HAWSER_") && !fleet.SecretName(name)) && (misplaced.Content(value) || fleet.SecretVar("", value)) {
			out = append(out, parts(value)...)
		}
	}
	return longestFirst(out)
}

// proxies are the variables that name one.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}

// host is what a host may be called that is quoted: a domain, an address, a word of small letters with a number or none; with a port or none.
var host = lazyregexp.New(`^(?:\[[0-9A-Fa-f:.%]*\]|[a-z][a-z-]*[0-9]{0,3}|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\.?|[A-Za-z0-9.-]+:[0-9]*$)(?::[0-9]*)?$`)

// noProxy is what is given in place of a proxy's address, and may be a password, with its part behind a colon.
func noProxy(text string) []string {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		rest = text
	}
	if rest = strings.TrimRight(rest, "/"); strings.Contains(rest, "@") || len(rest) < 4 || host.MatchString(rest) { // what stands before an @ is known as soon as it is read
		return nil
	}
	out := []string{text, rest}
	for part := range strings.SplitSeq(rest, ":") {
		if len(part) >= 4 && !host.MatchString(part) {
			out = append(out, part)
		}
	}
	return out
}

// shortestPassword is how long the part of an argument is that is taken for its password wherever it stands.
const shortestPassword = 8

// parts are a text, as it is and quoted, and its parts that are credentials by themselves.
func parts(text string) []string {
	out := []string{text}
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		out = append(out, quoted[1:len(quoted)-1])
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",= ", r) }) {
		if part != text && len(part) >= shortestPassword && unmistakable(part) {
			out = append(out, part)
		}
	}
	for _, sign := range []string{":", "="} {
		if _, password, ok := strings.Cut(text, sign); ok && len(strings.TrimSpace(password)) >= shortestPassword && strings.ContainsAny(password, "0123456789") {
			out = append(out, strings.TrimSpace(password))
		}
	}
	return out
}

func longestFirst(texts []string) []string {
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(texts)
}
