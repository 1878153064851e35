package reference

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/commandline"
)

type refusing struct{}

func (refusing) Set(string) error { return errors.New("no HOST") }
func (refusing) String() string   { return "" }
func (refusing) Type() string     { return "credentials" }

// A value that may be a credential is not in what is said of it.
func TestRefusedCredentials(t *testing.T) {
	for _, value := range []string{"https://ghcr.io=ada:PW", "ghcr.io/org=ada:PW", "=ada:PW", "PW"} {
		cmd := &cobra.Command{Use: "hawser"}
		cmd.Flags().Var(refusing{}, "creds", "")
		err := cmd.Flags().Parse([]string{"--creds", value})
		if got := FlagError(cmd, err).Error(); strings.Contains(got, "PW") || !strings.Contains(got, "no HOST") {
			t.Errorf("%s: %s", value, got)
		}
	}
	cmd := &cobra.Command{Use: "hawser"}
	cmd.Flags().Duration("timeout", 0, "")
	if got := FlagError(cmd, cmd.Flags().Parse([]string{"--timeout=ghp_abcdefghijklmnop"})).Error(); strings.Contains(got, "ghp_") {
		t.Error(got)
	}
	if got := FlagError(cmd, errors.New("unknown shorthand flag: 'p' in -pPW")).Error(); strings.Contains(got, "PW") {
		t.Error(got)
	}
}

// Which arguments are credentials follows from their form and place.
func TestCredentialArguments(t *testing.T) {
	root := &cobra.Command{Use: "hawser"}
	run := &cobra.Command{Use: "plan", Run: func(*cobra.Command, []string) {}}
	run.Flags().AddFlagSet(func() *pflag.FlagSet {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.String("creds", "", "")
		f.String("as", "", "")
		f.String("kube-token", "", "")
		return f
	}())
	root.AddCommand(run)
	for args, want := range map[string]string{"--creds h ada:PW": "ada:PW", "--creds=https://h=ada:PW": "https://h=ada:PW", "--as system:admin shop.yaml": "", "--kube-token abcde": "abcde",
		"localhost:5000/x oci://h/x:1 ./a:b C:\\x h.test:443": "", "=ada:PW": "=ada:PW", "ada:PW shop": "ada:PW", "--as=ghp_abcdefghijklmnop": "ghp_abcdefghijklmnop"} {
		if got := Credentials(root, append([]string{"plan"}, strings.Fields(args)...)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// Behind credentials for no host a stray word may be the password; behind those for a host it is a bundle's name.
func TestStrayPassword(t *testing.T) {
	for creds, hidden := range map[string]bool{"ghcr.io": true, "ghcr.io=ada:PW": false} {
		cmd := &cobra.Command{Use: "plan"}
		cmd.Flags().StringArray("file", nil, "")
		cmd.Flags().String("bundle", "", "")
		cmd.Flags().Var(&commandline.Credentials{Take: func(string) error { return nil }}, "creds", "")
		if err := cmd.Flags().Parse([]string{"--creds", creds, "-", "--file=x"}); err != nil {
			t.Fatal(err)
		}
		if got := Nothing(cmd, []string{"letmein"}).Error(); strings.Contains(got, "letmein") == hidden {
			t.Errorf("%s: %s", creds, got)
		}
	}
}
