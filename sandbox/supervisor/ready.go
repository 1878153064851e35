package supervisor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"hawser.dev/hawser/sandbox/state"
)

// waitReady returns when a client finds everything that a fresh cluster promises: the API server ready, service
// accounts made by their controller and, with workloads, all nodes ready. The error says what was missing last.
func (s *Supervisor) waitReady(ctx context.Context, spec state.Cluster, p *process) error {
	client := &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: s.pool, Certificates: []tls.Certificate{s.probe}, MinVersion: tls.VersionTLS12},
		},
	}
	checks := []func(context.Context, *http.Client, state.Cluster) error{
		checkServer,
		checkServiceAccount,
		checkNodes,
	}
	last := errors.New("its process did not start to serve")
	for len(checks) > 0 {
		if err := checks[0](ctx, client, spec); err == nil {
			checks = checks[1:]
			continue
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case <-p.done:
			return errors.New("its process ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", last)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

func checkServer(ctx context.Context, client *http.Client, spec state.Cluster) error {
	return get(ctx, client, spec.URL()+"/readyz", nil)
}

// checkServiceAccount looks for the account without which no pod is admitted.
func checkServiceAccount(ctx context.Context, client *http.Client, spec state.Cluster) error {
	return get(ctx, client, spec.URL()+"/api/v1/namespaces/default/serviceaccounts/default", nil)
}

func checkNodes(ctx context.Context, client *http.Client, spec state.Cluster) error {
	if !spec.Workloads {
		return nil
	}
	var nodes struct {
		Items []struct {
			Spec struct {
				Taints []any `json:"taints"`
			} `json:"spec"`
			Status struct {
				Conditions []struct{ Type, Status string } `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := get(ctx, client, spec.URL()+"/api/v1/nodes", &nodes); err != nil {
		return err
	}
	ready := 0
	for _, n := range nodes.Items {
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" && len(n.Spec.Taints) == 0 {
				ready++
			}
		}
	}
	if ready < spec.Nodes {
		return fmt.Errorf("%d of %d nodes are ready", ready, spec.Nodes)
	}
	return nil
}

// get reads an object; any answer but 200 is an error.
func get(ctx context.Context, client *http.Client, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}
