package oci

import (
	"context"
	"errors"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"hawser.dev/hawser/internal/diag"
)

// Login checks the credentials with the registry and stores them as Docker does: with the helper that Docker's
// configuration names or the system has, else in that configuration.
func (c *Client) Login(ctx context.Context, host, username, password string) error {
	p, err := hostPlace(host)
	if err != nil {
		return err
	}
	if username == "" || password == "" {
		return failure("registry-login", "a login to "+host+" needs a user name and a password", "", "")
	}
	store, err := c.store()
	if err != nil {
		return c.explain(p, &credentialsError{err})
	}
	reg := &remote.Registry{RepositoryOptions: remote.RepositoryOptions{Client: c.auth, Reference: p.remote, PlainHTTP: c.isPlain(ctx, p.remote.Host())}}
	err = credentials.Login(ctx, store, reg, auth.Credential{Username: username, Password: password})
	return hide(c.explain(p, err), password)
}

// Logout forgets the credentials of a registry.
func (c *Client) Logout(ctx context.Context, host string) error {
	p, err := hostPlace(host)
	if err != nil {
		return err
	}
	store, err := c.store()
	if err == nil {
		err = credentials.Logout(ctx, store, p.remote.Registry)
	}
	if err != nil {
		return c.explain(p, &credentialsError{err})
	}
	return nil
}

func hostPlace(host string) (place, error) {
	p := place{scheme: "oci://", remote: registry.Reference{Registry: host}}
	if err := p.remote.ValidateRegistry(); err != nil {
		return p, failure("registry-name", quote(host)+" is no registry", "", "name its host, with a port if it has one: registry.example.com:5000")
	}
	return p, nil
}

// hide takes a password out of findings, should a helper or a registry have repeated it.
func hide(err error, password string) error {
	fe, ok := errors.AsType[*diag.FindingsError](err)
	if !ok {
		return err
	}
	out := slices.Clone(fe.Findings)
	for i := range out {
		out[i].What, out[i].Why = strings.ReplaceAll(out[i].What, password, "***"), strings.ReplaceAll(out[i].Why, password, "***")
	}
	return out.Err()
}
