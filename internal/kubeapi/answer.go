package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
)

const (
	// errorBytes are read of an answer that is an error, errorText are kept of its text.
	errorBytes = 1 << 20
	errorText  = 4 << 10
	// largeBytes is from where on an answer is large: only few of a session are held at once.
	largeBytes = 4 << 20
)

// AnswerError: the API server gave an answer that no API server gives (a redirect, more than there can be, another kind
// of thing). Asking again does not help.
type AnswerError struct {
	// Server is the address that was asked, without user and path.
	Server string
	// What was wrong with the answer.
	What string
	// tooLarge: less of a list may be asked for.
	tooLarge bool
}

// Error names the server and what is wrong.
func (e *AnswerError) Error() string { return "the API server " + e.Server + " " + e.What }

// isWrong reports an error that is one of an answer that no API server gives.
func isWrong(err error) bool {
	_, wrong := errors.AsType[*AnswerError](err)
	return wrong
}

// WrongAnswer is the error of an answer that no API server gives.
func (c *Client) WrongAnswer(format string, args ...any) *AnswerError {
	return &AnswerError{Server: c.base.Scheme + "://" + c.base.Host, What: fmt.Sprintf(format, args...)}
}

// neverRedirect is for clients that carry credentials of a cluster: an API server sends nobody elsewhere, and what
// follows would give token, body or certificate to whoever is named.
func neverRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// redirected is the error of an answer that points elsewhere, nil for others. Of where it points only the host is told:
// the rest may carry what was sent.
func (c *Client) redirected(resp *http.Response) error {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return nil
	}
	where := ""
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Host != "" {
		where = fmt.Sprintf(" to %s://%s", u.Scheme, u.Host)
	}
	return c.WrongAnswer("answered %d with a redirect%s, which is never followed: name the API server itself in the kubeconfig", resp.StatusCode, where)
}

// answer reads what the server answered into r.Into; an error answer is the error.
func (c *Client) answer(ctx context.Context, r Request, resp *http.Response) error {
	if err := c.redirected(resp); err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		data, err := io.ReadAll(io.LimitReader(resp.Body, errorBytes))
		if err != nil {
			return err
		}
		return c.statusError(r, resp, data)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return c.WrongAnswer("answered in the encoding %q, which was not asked for", c.Cut(enc, 20))
	}
	lim := r.Limits
	if lim.Bytes == 0 {
		lim = answer.Object
	}
	if r.Into == nil {
		lim.Bytes = min(lim.Bytes, largeBytes) // it is not looked at
	}
	data, release, err := c.body(ctx, resp.Body, lim)
	defer release()
	if err != nil || r.Into == nil {
		return err
	}
	if answer.Weight(data) > lim.Weight {
		return c.tooLarge("has more parts than such an answer can have")
	}
	if err := c.echoedIn(r.Path, data); err != nil {
		return err
	}
	if read, ok := r.Into.(func([]byte) error); ok {
		return read(data)
	}
	if err := Decode(data, r.Into); err != nil {
		return c.NotUnderstood(err)
	}
	if got := answer.NameOf(r.Into); r.Named != "" && got != r.Named {
		return c.WrongAnswer("gave another object (%q) than the one that was asked for (%s)", c.Cut(got, 80), r.Named)
	}
	return c.echoedBy(r.Into)
}

// NotUnderstood is the error of an answer that is no JSON, or not of the kind asked for; nothing of it is quoted.
func (c *Client) NotUnderstood(err error) error {
	why := "it is no JSON of the kind that was asked for"
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		why = fmt.Sprintf("at %q it is a %s", te.Field, strings.SplitN(te.Value, " ", 2)[0])
	}
	return c.WrongAnswer("gave an answer that cannot be understood: %s", why)
}

func (c *Client) tooLarge(what string) error {
	err := c.WrongAnswer("gave an answer that %s", what)
	err.tooLarge = true
	return err
}

// body reads an answer within its limit. A large one waits for its turn; release gives it back.
func (c *Client) body(ctx context.Context, r io.Reader, lim answer.Limits) (data []byte, release func(), err error) {
	release = func() {}
	var buf bytes.Buffer
	if _, err := io.Copy(&buf, io.LimitReader(r, largeBytes+1)); err != nil {
		return nil, release, err
	}
	if buf.Len() > largeBytes {
		select {
		case c.large <- struct{}{}:
			release = func() { <-c.large }
		case <-ctx.Done():
			return nil, release, context.Cause(ctx)
		}
		if _, err := io.Copy(&buf, io.LimitReader(r, lim.Bytes-int64(buf.Len())+1)); err != nil {
			return nil, release, err
		}
	}
	if int64(buf.Len()) > lim.Bytes {
		return nil, release, c.tooLarge(fmt.Sprintf("has more than %d MiB", lim.Bytes>>20))
	}
	return buf.Bytes(), release, nil
}

// statusError is the server's Status as an error; an answer that is none ("404 page not found") becomes one. Texts are
// redacted before they are cut: a part of a secret would not be known again.
func (c *Client) statusError(r Request, resp *http.Response, data []byte) error {
	var st metav1.Status
	if json.Unmarshal(data, &st) == nil && st.Kind == "Status" {
		st.Code = int32(resp.StatusCode)
		if err := c.status(&st, r.Path); err != nil {
			return err
		}
		if after := answer.RetryAfter(resp.Header.Get("Retry-After")); after > 0 {
			if st.Details == nil {
				st.Details = &metav1.StatusDetails{}
			}
			st.Details.RetryAfterSeconds = int32(after / time.Second)
		}
		return &apierrors.StatusError{ErrStatus: st}
	}
	text := c.Cut(strings.TrimSpace(string(data)), 500)
	if strings.Contains(text, plainToTLS) && c.base.Scheme == "http" {
		return c.WrongAnswer("answers: %s", plainToTLS)
	}
	if answer.AboutSecrets(r.Path) && text != "" {
		text = answer.Withheld
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, r.Method, schema.GroupResource{}, "", text,
		int(answer.RetryAfter(resp.Header.Get("Retry-After"))/time.Second), true)
}

// status takes from a status about what is at a path what may be secret in its message. The error is of one that gives back what the connection
// logged in with as what it is about.
func (c *Client) status(st *metav1.Status, path string) error {
	if answer.AboutSecrets(path) {
		answer.Withhold(st)
	}
	st.Message = c.Cut(st.Message, errorText)
	texts := []string{st.Status, string(st.Reason), st.Continue, st.ResourceVersion}
	if d := st.Details; d != nil {
		texts = append(texts, d.Name, d.Group, d.Kind, string(d.UID))
		for _, cause := range d.Causes {
			if texts = append(texts, string(cause.Type), cause.Field); cause.Type == metav1.CauseTypeFieldManagerConflict {
				texts = append(texts, cause.Message) // who has it
			}
		}
	}
	return c.echoed("what an error is about", texts...)
}

// Cut redacts a text and shortens it to n bytes.
func (c *Client) Cut(text string, n int) string {
	text = c.Redact(text)
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}
