// Package audit reads an API server's own audit log and says, one line per request, what the server was asked.
//
// It must not know how the log came to be; it relies on the policy that writes one event per request.
package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Entry is one request that the API server answered, or one watch that it began.
type Entry struct {
	Time         time.Time `json:"time"`
	Verb         string    `json:"verb"`
	Method       string    `json:"method"`
	Path         string    `json:"path"`
	Query        string    `json:"query,omitempty"`
	Status       int       `json:"status"`
	DryRun       bool      `json:"dryRun"`
	FieldManager string    `json:"fieldManager,omitempty"`
	Force        bool      `json:"force,omitempty"`
	UserAgent    string    `json:"userAgent"`
	User         string    `json:"user"`
	// DurationMs is the time from receiving the request to the end of the answer; for a watch, to its begin.
	DurationMs float64 `json:"durationMs"`
	Group      string  `json:"group,omitempty"`
	Resource   string  `json:"resource,omitempty"`
	Namespace  string  `json:"namespace,omitempty"`
	Name       string  `json:"name,omitempty"`
	Sub        string  `json:"subresource,omitempty"`
}

// Options choose the entries.
type Options struct {
	// From is the offset in the log to begin at, as Offset or an earlier Read gave it.
	From int64
	// Since leaves out what was received earlier; zero leaves nothing out.
	Since time.Time
	// Ignore are the users whose requests are left out.
	Ignore []string
}

// event is the part of audit.k8s.io/v1 Event that is read.
type event struct {
	Stage            string    `json:"stage"`
	RequestURI       string    `json:"requestURI"`
	Verb             string    `json:"verb"`
	UserAgent        string    `json:"userAgent"`
	Received         time.Time `json:"requestReceivedTimestamp"`
	StageTime        time.Time `json:"stageTimestamp"`
	User             user      `json:"user"`
	ImpersonatedUser *user     `json:"impersonatedUser"`
	ObjectRef        objectRef `json:"objectRef"`
	ResponseStatus   struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

type user struct {
	Username string `json:"username"`
}

type objectRef struct {
	Resource    string `json:"resource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	APIGroup    string `json:"apiGroup"`
	Subresource string `json:"subresource"`
}

// Offset is the place behind the last whole line of the log; 0 while there is none.
func Offset(path string) (int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	// the server may be in the middle of a line
	for end > 0 {
		tail := make([]byte, min(end, 4096))
		if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(tail, '\n'); i >= 0 {
			return end - int64(len(tail)) + int64(i) + 1, nil
		}
		end -= int64(len(tail))
	}
	return 0, nil
}

// Read gives every chosen entry to yield and returns the offset behind the last whole line.
func Read(path string, o Options, yield func(Entry) error) (int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return o.From, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(o.From, io.SeekStart); err != nil {
		return o.From, err
	}
	r := bufio.NewReaderSize(f, 1<<16)
	offset := o.From
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return offset, nil // a line that is still being written counts next time
		}
		if err != nil {
			return offset, err
		}
		offset += int64(len(line))
		e, ok, err := parse(line, o)
		if err != nil {
			return offset, fmt.Errorf("%s before offset %d: %w", path, offset, err)
		}
		if !ok {
			continue
		}
		if err := yield(e); err != nil {
			return offset, err
		}
	}
}

func parse(line []byte, o Options) (Entry, bool, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return Entry{}, false, nil
	}
	var ev event
	if err := json.Unmarshal(line, &ev); err != nil {
		return Entry{}, false, err
	}
	who := ev.User.Username
	if slices.Contains(o.Ignore, who) || (!o.Since.IsZero() && ev.Received.Before(o.Since)) {
		return Entry{}, false, nil
	}
	if ev.ImpersonatedUser != nil {
		who = ev.ImpersonatedUser.Username
	}
	path, rawQuery, _ := strings.Cut(ev.RequestURI, "?")
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		query = url.Values{} // the client's own mistake; the raw query is in the entry
	}
	return Entry{
		Time: ev.Received, Verb: ev.Verb, Method: methodOf(ev.Verb), Path: path, Query: rawQuery,
		Status: ev.ResponseStatus.Code, DryRun: query.Has("dryRun"), FieldManager: query.Get("fieldManager"),
		Force: query.Get("force") == "true", UserAgent: ev.UserAgent, User: who,
		DurationMs: float64(ev.StageTime.Sub(ev.Received).Microseconds()) / 1000,
		Group:      ev.ObjectRef.APIGroup, Resource: ev.ObjectRef.Resource, Namespace: ev.ObjectRef.Namespace,
		Name: ev.ObjectRef.Name, Sub: ev.ObjectRef.Subresource,
	}, true, nil
}

// methodOf is the HTTP method behind a Kubernetes verb; the audit log has only the verb. Verbs of requests that are
// not about resources are methods already.
func methodOf(verb string) string {
	switch verb {
	case "get", "list", "watch":
		return "GET"
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "delete", "deletecollection":
		return "DELETE"
	}
	return strings.ToUpper(verb)
}
