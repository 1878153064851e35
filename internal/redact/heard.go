package redact

// AddHeard makes values secret in messages alone (Message): what Secrets of a cluster hold, which whoever writes one may have chosen so that it
// would hide something of a plan.
func (r *Redactor) AddHeard(values ...string) {
	if r == nil || len(values) == 0 {
		return
	}
	r.mu.Lock()
	if r.heard == nil {
		r.heard = New()
	}
	heard := r.heard
	r.mu.Unlock()
	for _, v := range values {
		heard.Add(v)
	}
}

// Message masks in what people say of a run: what Redact does, and what was heard. All of it is masked as one union.
func (r *Redactor) Message(text string) string {
	if text == "" || r == nil {
		return text
	}
	spans := r.spans(redacting, "", text)
	r.mu.RLock()
	heard := r.heard
	r.mu.RUnlock()
	if heard != nil {
		spans = append(spans, heard.spans(redacting, "", text)...)
	}
	return hide(text, userSpans(text, spans))
}
