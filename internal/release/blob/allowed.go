package blob

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"hawser.dev/hawser/internal/httpclient"
)

// hostsVariable is the environment variable by which whoever runs Hawser allows servers of release stores.
const hostsVariable = "HAWSER_RELEASE_STORE_HOSTS"

// allowed is nil where an endpoint may be sent credentials that the fleet's file gives: home says that it is one of the provider's own. Any
// other one is of the file's choice, and references in a file may name whatever the environment and the stores of secrets hold: so whoever
// runs Hawser has to allow it (hostsVariable: HOST or HOST:PORT, over TLS; with http:// before it without; separated by commas). A server on
// this machine is reached by nobody else.
func allowed(endpoint *url.URL, home bool) error {
	if home || httpclient.Loopback(endpoint.Hostname()) {
		return nil
	}
	for item := range strings.SplitSeq(os.Getenv(hostsVariable), ",") {
		scheme, host, given := strings.Cut(strings.TrimSpace(item), "://")
		if !given {
			scheme, host = "https", scheme
		}
		if scheme == endpoint.Scheme && host != "" && strings.EqualFold(host, endpoint.Host) {
			return nil
		}
	}
	name := endpoint.Host
	if endpoint.Scheme != "https" {
		name = endpoint.Scheme + "://" + name
	}
	return fmt.Errorf("credentials go to a server that a fleet's file names only where whoever runs Hawser allows it: set %s=%s in the environment", hostsVariable, name)
}
