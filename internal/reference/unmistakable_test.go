package reference

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/misplaced"
)

// What is hidden in what is printed is unmistakable: names, versions, ports and contexts are shown.
func TestUnmistakable(t *testing.T) {
	root := &cobra.Command{Use: "hawser"}
	status := &cobra.Command{Use: "status", Run: func(*cobra.Command, []string) {}}
	status.Flags().StringP("selector", "l", "", "")
	status.Flags().String("cluster", "", "")
	status.Flags().StringP("message", "m", "", "")
	status.Flags().Bool("wide", false, "")
	root.AddCommand(status)
	for _, arg := range []string{"ghp_Zq12345678901234", "bob:Zq!x", "bob:Hunter2$", "ada:x9K!hunter", "password=hunter2", "tok=ghp_Zq12345678901234", "postgres://u:pw@h/db", "AGE-SECRET-KEY-1QQQ", "token: hunter2", "https://ada:hunter2@h/x"} {
		byForm := fleet.SecretVar("", arg) || misplaced.Content(arg)
		for _, args := range [][]string{{"status", arg}, {"status", "--wide", arg}, {"status", "shop", arg}, {"status", "-l", arg}, {"status", "--cluster", arg}, {"status", "--cluster=" + arg}} {
			if last := args[len(args)-1]; !byForm && (last != arg || strings.HasPrefix(args[1], "-") && args[1] != "--wide") {
				continue // the value of a flag may have a colon
			}
			if got := Unmistakable(root, args); !slices.Contains(got, arg) {
				t.Errorf("%q: %q", args, got)
			}
		}
	}
	for _, arg := range []string{"shop", "shop:web", "shop:web-prod", "prod:Web.Front", "web:v1.2.3", "web:1.27-alpine", "web:2026-11-29", "web:v2", "web:latest", "web:1", "web:V1", "web:RC1", "web:Release-2", "web:20240101T1200", "web:main-1A2B3C4", "prod:Shop1", "feature:ABC-123", "api-key:v1", "token=none", "secret=true", "myapp-token=1", "nginx:stable-alpine3.18", "prod:web2", "oidc:ada@example.com", "arn:aws:eks:eu-west-1:123456789012:cluster/prod", "system:serviceaccount:ci:deployer9", "localhost:5000/x", "h.test:443", "oci://h/x:1", "C:\\x", "./a:b",
		"web@sha256:" + "0a1b2c3d4e5f", "sha256:0a1b", "env=prod", "tier=web,env!=prod", "shop.yaml", "550e8400-e29b-41d4-a716-446655440000", "kube-system/web", "eu-*", "30m", "oci://ghcr.io/acme/web:1.0.0@sha256:0a1b2c"} {
		for _, args := range [][]string{{"status", arg}, {"status", "-l", arg}, {"status", "--cluster=" + arg}} {
			if got := Unmistakable(root, args); len(got) > 0 {
				t.Errorf("%q: %q", args, got)
			}
		}
	}
	if got := Unmistakable(root, []string{"status", "-l", "tok=ghp_Zq12345678901234"}); !slices.Equal(got, []string{"tok=ghp_Zq12345678901234", "ghp_Zq12345678901234"}) {
		t.Errorf("%q", got)
	}
	for _, args := range [][]string{{"status", "--cluster", "Prod:Web2!"}, {"status", "--message", "fix: bump web to 2.1"}, {"status", "-m=feat: see b4"}} {
		if got := Unmistakable(root, args); len(got) > 0 {
			t.Errorf("%q: %q", args, got)
		}
	}
	if got := Misplaced([]string{"HAWSER_ISOLATE=ghp_Zq12345678901234", "HAWSER_FLEET=token: hunter2", "HAWSER_CACHE_DIR=/c", "GITHUB_TOKEN=ghp_Zz12345678901234", "KUBECONFIG=/home/ada/.kube/config", "PATH=/usr/bin:/bin"}); !slices.Equal(got, []string{"ghp_Zq12345678901234", "token: hunter2"}) {
		t.Errorf("%q", got)
	}
}

// What stands in place of a proxy's address is not shown: it may be its password.
func TestNoProxy(t *testing.T) {
	for text, want := range map[string][]string{"hunter2pw": {"hunter2pw"}, "http://hunter2pw": {"http://hunter2pw", "hunter2pw"}, "bob:hunter2pw": {"bob:hunter2pw", "hunter2pw"}, "Zq!x9K": {"Zq!x9K"}, "https://bob:Zq-x9/": {"https://bob:Zq-x9/", "bob:Zq-x9", "Zq-x9"},
		"proxy": nil, "http://squid01": nil, "http://edge-proxy2/": nil, "proxy:3128": nil, "http://proxy:3128": nil, "http://proxy1:3128/": nil, "proxy.example.com": nil, "http://10.0.0.1:8080": nil, "socks5://localhost:1080": nil, "http://[::1]:3128": nil, "": nil, "http://u:pw@proxy:3128": nil} {
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
			if got := Misplaced([]string{name + "=" + text}); !slices.Equal(got, want) {
				t.Errorf("%s=%s: %q, want %q", name, text, got, want)
			}
		}
	}
}
