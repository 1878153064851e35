package blob

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
)

// S3Credentials are what requests are signed with: keys, or else what the usual chain of AWS finds: the environment, the shared
// credentials file (a profile of it: keys, SSO, a process), a web identity token, and what a container or a machine is given.
type S3Credentials struct {
	AccessKeyID, SecretAccessKey, SessionToken string
	// Profile of the shared credentials file; with it nothing else is looked for.
	Profile string
}

// given reports whether the fleet gives the keys; all others are the machine's own.
func (c S3Credentials) given() bool { return c.AccessKeyID+c.SecretAccessKey != "" }

// chain are the credentials, and what of them no answer may have printed, as far as they were asked for; redact is applied to what a profile's
// program says.
func (c S3Credentials) chain(redact func(string) string) (*credentials.Credentials, func() []string) {
	switch {
	case c.given():
		return credentials.NewStaticV4(c.AccessKeyID, c.SecretAccessKey, c.SessionToken), func() []string { return []string{c.SecretAccessKey, c.SessionToken} }
	case c.Profile != "":
		own := &chain{providers: []source{{"profile " + misplaced.Shown(c.Profile) + " of the shared credentials file", newProfile(c.Profile, redact)}}}
		return credentials.New(own), own.known
	}
	all := []source{{"environment", &credentials.EnvAWS{}}, {"shared credentials file", newProfile("", redact)}}
	given := cmp.Or(os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
	if given != "" || !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		all = append(all, source{"web identity, container or machine", &credentials.IAM{}})
	}
	own := &chain{providers: all}
	return credentials.New(own), own.known
}

// region is how Amazon's regions are called.
var region = lazyregexp.New(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)

// atHome reports whether an endpoint may be sent what is signed with the machine's own credentials: Amazon's S3, over TLS, or the one that
// whoever runs Hawser names for all of AWS's tools, which no fleet's file can.
func atHome(endpoint *url.URL) bool {
	if below(endpoint, "amazonaws.com", "amazonaws.com.cn") { // others rent names there, too
		labels := strings.Split(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(endpoint.Hostname()), ".cn"), ".amazonaws.com"), ".")
		if slices.Contains(labels, "s3") {
			return true
		}
		i := slices.IndexFunc(labels, func(label string) bool { return strings.HasPrefix(label, "s3-") })
		return i >= 0 && !slices.ContainsFunc(labels[i+1:], func(label string) bool { return label != "dualstack" && !region.MatchString(label) }) // no load balancer of that name
	}
	return slices.ContainsFunc([]string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, func(name string) bool {
		own, err := endpointURL(os.Getenv(name), false)
		return err == nil && own.Scheme == endpoint.Scheme && strings.EqualFold(own.Host, endpoint.Host)
	})
}

// pathsGiven is an error where one of the variables that libraries take a file's path from holds the file's content: they quote it.
func pathsGiven(of string, variables ...string) error {
	for _, name := range variables {
		if err := misplaced.File(name, of, os.Getenv(name)); err != nil {
			return err
		}
	}
	return nil
}

// source is a provider by what people call it.
type source struct {
	name string
	credentials.Provider
}

// chain takes the first that gives keys, and says why none does: requests are never sent without.
type chain struct {
	providers []source
	found     credentials.Provider
	value     atomic.Pointer[credentials.Value]
}

// known are the secrets that were found.
func (c *chain) known() []string {
	if v := c.value.Load(); v != nil {
		return []string{v.SecretAccessKey, v.SessionToken}
	}
	return nil
}

// Retrieve is RetrieveWithCredContext.
func (c *chain) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext asks one after the other.
func (c *chain) RetrieveWithCredContext(with *credentials.CredContext) (credentials.Value, error) {
	err := pathsGiven("keys of AWS", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE")
	if err == nil {
		err = pathsGiven("a token", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
	}
	if err != nil {
		return credentials.Value{}, fmt.Errorf("%w (%w)", errCredentials, err)
	}
	var why []string
	for _, p := range c.providers {
		got, err := p.RetrieveWithCredContext(with)
		if err == nil && got.AccessKeyID != "" && got.SecretAccessKey != "" {
			c.found = p
			c.value.Store(&got)
			return got, nil
		}
		if late, ok := errors.AsType[*unsent](err); ok {
			return got, late
		}
		reason := "none"
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			reason = err.Error()
		}
		why = append(why, p.name+": "+reason)
	}
	return credentials.Value{}, fmt.Errorf("%w (%s): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give releases.store.s3.credentials in the fleet's file as ref:// references", errCredentials, strings.Join(why, "; "))
}

// IsExpired reports whether keys are to be asked for again.
func (c *chain) IsExpired() bool { return c.found == nil || c.found.IsExpired() }
