package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/terminal"
)

func (s *session) registryCommand() *cobra.Command {
	return parent("registry COMMAND", "Log in to registries and out",
		"Registry keeps credentials where Docker keeps them: with the credential helper that its configuration names, else in the file.",
		"  echo $TOKEN | hawser registry login registry.example.com -u ada --password-stdin\n  hawser registry logout registry.example.com",
		s.loginCommand(), s.logoutCommand())
}

// maxPassword is how long a password from stdin may be; tokens are long.
const maxPassword = 64 << 10

func (s *session) loginCommand() *cobra.Command {
	var user string
	var stdin bool
	cmd := &cobra.Command{
		Use:   "login REGISTRY -u USER",
		Short: "Check credentials with a registry and keep them",
		Args:  reference.Exactly("REGISTRY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			if t.Logins == nil {
				return usagef("this build keeps no credentials")
			}
			if user == "" {
				return usagef("as whom?\nName the user with -u")
			}
			password, err := s.password(stdin, user, args[0])
			if err != nil {
				return err
			}
			if err := t.Logins.Login(cmd.Context(), registryHost(args[0]), user, password); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "logged in to %s as %s\n", registryHost(args[0]), user)
			return nil
		},
	}
	cmd.Flags().StringVarP(&user, "username", "u", "", "user name")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from stdin")
	return cmd
}

// registryHost takes the scheme off, which people write and credentials do not have.
func registryHost(s string) string {
	for _, scheme := range []string{"oci://", "https://", "http://"} {
		s = strings.TrimPrefix(s, scheme)
	}
	return strings.TrimRight(s, "/")
}

// password reads a password without showing it.
func (s *session) password(stdin bool, user, registry string) (string, error) {
	if stdin {
		data, err := io.ReadAll(io.LimitReader(s.In, maxPassword+1))
		if err != nil {
			return "", err
		}
		password := strings.TrimRight(string(data), "\r\n")
		if password == "" || len(data) > maxPassword {
			return "", usagef("stdin holds no password, or more than one")
		}
		return password, nil
	}
	file, ok := s.In.(*os.File)
	if !ok || !s.interactive() || !terminal.Is(file) {
		return "", usagef("nobody can be asked for the password here\nGive it on stdin with --password-stdin")
	}
	fmt.Fprintf(s.Err, "Password of %s at %s: ", user, registry)
	data, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(s.Err)
	if err == nil && len(data) == 0 {
		err = usagef("the password is empty")
	}
	return string(data), err
}

func (s *session) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "logout REGISTRY",
		Short:   "Forget the credentials of a registry",
		Long:    "Logout removes the credentials of a registry from where login keeps them. There being none is no error.",
		Example: "  hawser registry logout registry.example.com",
		Args:    reference.Exactly("REGISTRY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			if t.Logins == nil {
				return usagef("this build keeps no credentials")
			}
			if err := t.Logins.Logout(cmd.Context(), registryHost(args[0])); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "logged out of %s\n", registryHost(args[0]))
			return nil
		},
	}
}
