package kubeconfig

import (
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// TestOverride: flags replace parts of the kubeconfig, may stand for a whole one, and are checked before anybody is asked.
func TestOverride(t *testing.T) {
	path := write(t, "config", config)
	ca := write(t, "ca.crt", "x")
	for name, c := range map[string]struct {
		file    string
		context string
		over    fleet.Override
		server  string
		want    string // of the finding
	}{
		"nothing replaced":               {file: path, server: "https://one.example:6443"},
		"server":                         {file: path, over: fleet.Override{Server: "https://other.example"}, server: "https://other.example"},
		"server that is no address":      {file: path, over: fleet.Override{Server: "other"}, want: "no usable server address"},
		"token for a user without":       {file: path, context: "nocredentials", over: fleet.Override{Token: "t"}, server: "https://one.example:6443"},
		"token for a missing plug-in":    {file: path, context: "exec", over: fleet.Override{Token: "t"}, server: "https://one.example:6443"},
		"authority that is missing":      {file: path, context: "badca", over: fleet.Override{CertificateAuthority: ca}, server: "https://three.example"},
		"certificate without key":        {file: path, over: fleet.Override{ClientCertificate: ca}, want: "go together"},
		"certificate that is not there":  {file: path, over: fleet.Override{ClientCertificate: ca + "x", ClientKey: ca}, want: "ca.crtx"},
		"two ways to say who":            {file: path, over: fleet.Override{Token: "t", ClientCertificate: ca, ClientKey: ca}, want: "give one"},
		"verified, and not verified":     {file: path, over: fleet.Override{InsecureSkipTLSVerify: true, CertificateAuthority: ca}, want: "nothing would be verified"},
		"no kubeconfig at all":           {over: fleet.Override{Server: "https://other.example", Token: "t"}, server: "https://other.example"},
		"no kubeconfig and no server":    {over: fleet.Override{Token: "t"}, want: "there is no kubeconfig"},
		"no kubeconfig, but its context": {context: "x", over: fleet.Override{Server: "https://other.example"}, want: "there is no kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			o := fleet.AccessOptions{Kubeconfig: c.file, Context: c.context, Override: c.over}
			if c.file == "" {
				t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
			}
			got, findings := Resolve(fleet.Implicit(c.context), o)
			text := ""
			if len(findings) > 0 {
				text = findings[0].String()
			}
			if c.want == "" && text != "" || !strings.Contains(text, c.want) {
				t.Errorf("%s", text)
			}
			if c.want == "" && (got.Server != c.server || got.Override != c.over) {
				t.Errorf("%+v", got)
			}
		})
	}
}
