package supervisor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"hawser.dev/hawser/sandbox/audit"
	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/fault"
	"hawser.dev/hawser/sandbox/state"
)

// handler serves the messages of package control. Whoever can open the socket may do everything.
func (s *Supervisor) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Status(), nil) })
	mux.HandleFunc("POST /v1/up", s.serveUp)
	mux.HandleFunc("POST /v1/down", s.serveDown)
	mux.HandleFunc("POST /v1/kubeconfig", s.serveKubeconfig)
	mux.HandleFunc("PUT /v1/clusters/{name}/fault", s.serveFault)
	mux.HandleFunc("DELETE /v1/clusters/{name}/fault", s.serveFault)
	mux.HandleFunc("GET /v1/clusters/{name}/audit", s.serveAudit)
	mux.HandleFunc("POST /v1/clusters/{name}/{verb}", func(w http.ResponseWriter, r *http.Request) {
		c, err := s.find(r.PathValue("name"))
		if err == nil {
			err = s.do(r.Context(), r.PathValue("verb"), c)
		}
		reply(w, struct{}{}, err)
	})
	return mux
}

func (s *Supervisor) serveUp(w http.ResponseWriter, r *http.Request) {
	var req control.UpRequest
	if !decode(w, r, &req) {
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	flush := http.NewResponseController(w)
	var mu sync.Mutex
	write := func(p control.Progress) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(w).Encode(p) // the command may be gone; its context then ends the start
		_ = flush.Flush()
	}
	if err := s.Up(r.Context(), req.Clusters, write); err != nil {
		write(control.Progress{Error: err.Error()})
		return
	}
	write(control.Progress{Done: true})
}

func (s *Supervisor) serveDown(w http.ResponseWriter, r *http.Request) {
	var req control.DownRequest
	if !decode(w, r, &req) {
		return
	}
	s.Down(req)
	reply(w, struct{}{}, nil)
}

func (s *Supervisor) serveKubeconfig(w http.ResponseWriter, r *http.Request) {
	var req control.UserRequest
	if !decode(w, r, &req) {
		return
	}
	id, err := identify(s.ca, req.User, req.Groups...)
	if err != nil {
		reply(w, nil, err)
		return
	}
	s.mu.Lock()
	raw, err := state.Kubeconfig(s.saved.Clusters, id)
	s.mu.Unlock()
	if err != nil {
		reply(w, nil, err)
		return
	}
	_, _ = w.Write(raw) // the client may be gone
}

func (s *Supervisor) serveFault(w http.ResponseWriter, r *http.Request) {
	c, err := s.find(r.PathValue("name"))
	if err != nil {
		reply(w, nil, err)
		return
	}
	if r.Method == http.MethodDelete {
		c.proxy.Set(nil)
		reply(w, struct{}{}, nil)
		return
	}
	var spec fault.Spec
	if !decode(w, r, &spec) {
		return
	}
	if err = spec.Validate(); err == nil {
		c.proxy.Set(&spec)
	}
	reply(w, struct{}{}, err)
}

// serveAudit gives the requests from ?from= on as JSON lines. The header Audit-Offset, a trailer, says where the next
// read begins; ?offset=only gives but the log's present end.
func (s *Supervisor) serveAudit(w http.ResponseWriter, r *http.Request) {
	c, err := s.find(r.PathValue("name"))
	if err != nil {
		reply(w, nil, err)
		return
	}
	path, q := s.dir.AuditLog(c.spec.Name), r.URL.Query()
	if q.Get("offset") == "only" {
		offset, err := audit.Offset(path)
		reply(w, map[string]int64{"offset": offset}, err)
		return
	}
	o := audit.Options{Ignore: OwnUsers()}
	if q.Get("all") != "" {
		o.Ignore = nil
	}
	if v := q.Get("from"); v != "" {
		if o.From, err = strconv.ParseInt(v, 10, 64); err != nil {
			reply(w, nil, err)
			return
		}
	}
	if v := q.Get("since"); v != "" {
		if o.Since, err = time.Parse(time.RFC3339Nano, v); err != nil {
			reply(w, nil, err)
			return
		}
	}
	w.Header().Set("Trailer", "Audit-Offset, Audit-Error")
	enc := json.NewEncoder(w)
	offset, err := audit.Read(path, o, func(e audit.Entry) error { return enc.Encode(e) })
	w.Header().Set("Audit-Offset", strconv.FormatInt(offset, 10))
	if err != nil {
		w.Header().Set("Audit-Error", err.Error())
	}
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		http.Error(w, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err), http.StatusBadRequest)
		return false
	}
	return true
}

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
