//go:build unix

package execcredential

import (
	"hawser.dev/hawser/internal/terminal"

	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// plugin is a plug-in made of a shell script; DIR is its directory.
func plugin(t *testing.T, script string) (p *Plugin, dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "plugin")
	// What another test starts meanwhile would have the file open for writing a moment longer: "text file busy".
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.ReplaceAll(script, "DIR", dir)), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	p, err = Of(&rest.Config{Host: "https://c", ExecProvider: &clientcmdapi.ExecConfig{Command: path, APIVersion: versions[0],
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode}})
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

func says(token, expires string) string {
	return fmt.Sprintf(`echo x >> DIR/calls; echo '{"apiVersion": %q, "kind": "ExecCredential", "status": {"token": %q%s}}'`, versions[0], token, expires) + "\n"
}

func calls(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "x")
}

// server answers with a code and notes the tokens.
type server struct {
	code   int
	tokens []string
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.tokens = append(s.tokens, r.Header.Get("Authorization"))
	return &http.Response{StatusCode: s.code, Body: http.NoBody}, nil
}

func ask(ctx context.Context, rt http.RoundTripper) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://c/version", nil)
	if err != nil {
		return err
	}
	resp, err := rt.RoundTrip(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

// TestPluginsNoise: what a plug-in says on its standard error gives no orders to terminal and CI, and has an end.
func TestPluginsNoise(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	was := terminal.Stderr
	terminal.Stderr = file
	defer func() { terminal.Stderr = was }()
	p, _ := plugin(t, `printf '\033[2J\n::error::boom\nlast' >&2`+"\n"+says("one", ""))
	loud, _ := plugin(t, "yes ::error::noise | head -c 1000000 >&2\n"+says("two", ""))
	for _, p := range []*Plugin{p, loud} {
		if err := ask(t.Context(), p.Wrap(&server{code: 200}, func() {})); err != nil {
			t.Error(err)
		}
	}
	data, err := os.ReadFile(file.Name())
	if err != nil || strings.Contains(string(data), "\x1b") || strings.Contains(string(data), "\n::error") || !strings.HasPrefix(string(data), "\\x1b[2J\n: :error::boom\nlast\n") {
		t.Errorf("%v: %.200q", err, data)
	}
	if len(data) > 2*maxSaid || !strings.HasSuffix(string(data), "left out)\n") {
		t.Errorf("%d bytes are passed on", len(data))
	}
}

// TestHangingPlugin: when the last request that waits gives up, by time or by Ctrl-C, the plug-in is ended with what it
// started, also where that keeps the output open; the next request asks anew.
func TestHangingPlugin(t *testing.T) {
	for name, script := range map[string]string{
		"itself":                     "echo $$ > DIR/pid; exec sleep 300\n",
		"a grandchild with the pipe": "sleep 300 & echo $! > DIR/pid; wait\n",
		"a grandchild with the pipe, child ended": "sleep 300 & echo $! > DIR/pid; exit 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, dir := plugin(t, "[ -e DIR/again ] && { "+strings.TrimSpace(says("second", ""))+"; exit; }\n"+script)
			srv := &server{code: 200}
			rt := p.Wrap(srv, func() {})
			ctx, cancel := context.WithCancel(t.Context())
			short, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer stop()
			var wg sync.WaitGroup
			start := time.Now()
			wg.Go(func() {
				defer cancel()
				begun(t, filepath.Join(dir, "pid"))
				time.Sleep(300 * time.Millisecond)
			})
			for _, c := range []context.Context{ctx, short} {
				wg.Go(func() {
					err := ask(c, rt)
					if _, ok := errors.AsType[*TimeoutError](err); !ok {
						t.Errorf("%v", err)
					}
				})
			}
			wg.Wait()
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("it took %s", took)
			}
			gone(t, filepath.Join(dir, "pid"))
			if err := os.WriteFile(filepath.Join(dir, "again"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := ask(t.Context(), rt); err != nil || len(srv.tokens) != 1 || srv.tokens[0] != "Bearer second" {
				t.Errorf("the cancelled run answers the next request: %v %q", err, srv.tokens)
			}
		})
	}
}

// begun waits until a process has written its id into a file.
func begun(t *testing.T, file string) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if data, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(data), "\n") {
			return
		}
	}
	t.Error("nothing was started")
}

// gone fails the test when the process whose id stands in a file goes on.
func gone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(stat), ") ")
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && strings.HasPrefix(state, "Z") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Error("it goes on")
}

// TestShared: a plug-in runs once for all who wait, again when its credential has expired or was refused.
func TestShared(t *testing.T) {
	p, dir := plugin(t, "sleep 0.2\n"+says("t", ""))
	srv := &server{code: 200}
	rt := p.Wrap(srv, func() {})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := p.get(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := ask(t.Context(), rt); err != nil || calls(t, dir) != 1 || srv.tokens[0] != "Bearer t" {
		t.Errorf("%v %v, %d calls", err, srv.tokens, calls(t, dir))
	}
	srv.code = 401
	_ = ask(t.Context(), rt)
	_ = ask(t.Context(), rt)
	if calls(t, dir) != 2 {
		t.Errorf("%d calls", calls(t, dir))
	}

	old, dir := plugin(t, says("t", `, "expirationTimestamp": "2020-01-01T00:00:00Z"`))
	for range 2 {
		if _, err := old.get(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if calls(t, dir) != 2 {
		t.Errorf("%d calls", calls(t, dir))
	}
}

// TestBadAnswers: errors tell what is wrong and quote nothing; output has a limit.
func TestBadAnswers(t *testing.T) {
	for script, want := range map[string]string{
		"exit 3":                        "failed with exit code 3",
		"echo canary":                   "no ExecCredential",
		"exec yes canary":               "",
		`echo '{"apiVersion": "x/v1"}'`: "returned version x/v1",
		says("", ""):                    "token or cert/key pair",
		`echo '{"apiVersion": "client.authentication.k8s.io/v1"}'`:                                                                           "status field",
		`echo '{"apiVersion": "client.authentication.k8s.io/v1", "status": {"clientKeyData": "canary"}}'`:                                    "not both",
		`echo '{"apiVersion": "client.authentication.k8s.io/v1", "status": {"clientKeyData": "canary", "clientCertificateData": "canary"}}'`: "parsing",
	} {
		p, _ := plugin(t, script+"\n")
		_, err := p.get(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", script, err)
		}
	}
	p, err := Of(&rest.Config{ExecProvider: &clientcmdapi.ExecConfig{Command: "no-such-command-anywhere", APIVersion: versions[1], InstallHint: "get it",
		InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.get(t.Context()); err == nil || !strings.Contains(err.Error(), "not found") || !strings.Contains(err.Error(), "get it") {
		t.Errorf("%v", err)
	}
	if _, err := Of(&rest.Config{ExecProvider: &clientcmdapi.ExecConfig{Command: "x", APIVersion: "v0"}}); err == nil {
		t.Error("an unknown version is taken")
	}
	if p, err := Of(&rest.Config{BearerToken: "t", ExecProvider: &clientcmdapi.ExecConfig{Command: "x"}}); p != nil || err != nil {
		t.Error("a token of its own does not win")
	}
}

// TestWhatAPluginIsTold: the cluster where that is wanted, and the variables of the kubeconfig.
func TestWhatAPluginIsTold(t *testing.T) {
	_, dir := plugin(t, "")
	path := filepath.Join(dir, "plugin")
	script := `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO $EXTRA $1" > ` + dir + "/told\n" + strings.ReplaceAll(says("t", ""), "DIR", dir)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := &rest.Config{Host: "https://c:6443", TLSClientConfig: rest.TLSClientConfig{ServerName: "name", CAData: []byte("ca")}, ExecProvider: &clientcmdapi.ExecConfig{
		Command: path, Args: []string{"arg"}, Env: []clientcmdapi.ExecEnvVar{{Name: "EXTRA", Value: "more"}}, APIVersion: versions[0], ProvideClusterInfo: true,
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}
	p, err := Of(cfg)
	if err != nil || cfg.ExecProvider != nil {
		t.Fatal(err, cfg.ExecProvider)
	}
	if _, err := p.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kind":"ExecCredential"`, `"apiVersion":"client.authentication.k8s.io/v1"`, `"server":"https://c:6443"`, `"tls-server-name":"name"`,
		`"certificate-authority-data":"Y2E="`, `"interactive":false`, "more arg"} {
		if !strings.Contains(string(told), want) {
			t.Errorf("%s is missing in %s", want, told)
		}
	}
}
