package kubeapi

import (
	"net/http"
	"strings"

	"k8s.io/client-go/transport"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/diag"
)

// Identity is somebody whose rights requests are sent with: the API server is asked to take them for that user's. The zero
// value is nobody.
type Identity struct {
	User   string   `json:"user,omitempty"`
	Groups []string `json:"groups,omitempty"`
	UID    string   `json:"uid,omitempty"`
}

// Nobody reports the zero value.
func (i Identity) Nobody() bool { return i.User == "" && len(i.Groups) == 0 && i.UID == "" }

// String is the user, with the groups.
func (i Identity) String() string {
	if len(i.Groups) == 0 {
		return i.User
	}
	return strings.TrimSpace(i.User + " (" + strings.Join(i.Groups, ", ") + ")")
}

// head puts the identity into a request. It goes before one that the access has.
func (i *Identity) head(h http.Header) {
	if i == nil {
		return
	}
	h.Set(transport.ImpersonateUserHeader, i.User)
	for _, g := range i.Groups {
		h.Add(transport.ImpersonateGroupHeader, g)
	}
	if i.UID != "" {
		h.Set(transport.ImpersonateUIDHeader, i.UID)
	}
}

// As is a client on the same connection that asks for everything with somebody else's rights; it knows the same kinds.
func (c *Client) As(who Identity) *Client {
	return &Client{connection: c.connection, cfg: c.cfg, as: &who}
}

// refused tells a refusal to act for somebody from refusals of what was asked: a finding, which is no forbidden answer.
func (c *Client) refused(err error) error {
	st, ok := answer.StatusOf(err)
	if c.as == nil || !ok || st.Code != http.StatusForbidden || !strings.Contains(st.Message, " cannot impersonate resource ") {
		return err
	}
	f := diag.Errorf("impersonation", "the cluster does not let us act as %s", c.as)
	f.Why, f.Fix = c.Redact(st.Message), "grant the verb impersonate on the user and the groups to the credentials of the access"
	return diag.Findings{f}.Err()
}
