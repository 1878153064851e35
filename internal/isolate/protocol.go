package isolate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/wire"
)

// protocol is the number of what parent and child say to each other; it changes with the messages.
const protocol = 2

// maxFrame is the size of one message: objects of what a render may make at most, and room.
const maxFrame = 256 << 20

// kind of a message.
type kind byte

const (
	kindHello  kind = 'h' // both ways, first
	kindAsk    kind = 'q' // to the child
	kindAnswer kind = 'a' // to the parent: the end of a question
	kindCall   kind = 'c' // to the parent, in the middle of one
	kindReply  kind = 'r' // to the child
	kindEnds   kind = 'x' // to the parent: why the child ends now
)

// hello says who is there. The parent's has the limits, too.
type hello struct {
	Protocol int
	Build    string
	Limits   cuelang.WatchLimits
	// CheckTime is how long one health check may take for one object.
	CheckTime time.Duration
}

// what is asked of a child.
type what string

const (
	askDocument what = "document"
	askKey      what = "key"
	askRender   what = "render"
	askMakes    what = "makes"
	askDefault  what = "default"
	askKinds    what = "kinds"
	askCheck    what = "check"
	askVet      what = "vet"
)

// question is what a child is asked.
type question struct {
	What     what
	Source   document.Source
	Document document.Question
	// Renderer renders Request, whose source of chance stays with the parent: Chance is its ID.
	Renderer string
	Request  render.Request
	Chance   *string
	Path     v1alpha1.Path
	Paths    []v1alpha1.Path
	Rule     health.Check
	Object   map[string]any
}

// title says for people what is asked for.
func (q question) title() string {
	switch q.What {
	case askDocument:
		return q.Document.Title()
	case askCheck, askVet:
		return q.Rule.Title()
	}
	return "instance " + q.Request.Instance.Name
}

// has names what a child keeps when it has answered: another question about it is answered sooner there.
func (q question) has() string {
	switch q.What {
	case askDocument:
		return q.Source.Digest
	case askCheck, askVet:
		return ""
	}
	return q.Request.Content.Digest
}

// answer is a child's.
type answer struct {
	Document document.Answer
	Key      string
	Result   render.Result
	Makes    bool
	Default  *v1alpha1.Value
	Kinds    [][]v1alpha1.Kind
	Pos      diag.Pos
	Status   health.Status
	Applies  bool
	// Findings are those of an error that carries some, Error the text of any other.
	Findings diag.Findings
	Error    *string
	// Took is how long a health check was evaluated, without what came before it.
	Took time.Duration
	// Leaving: the child ends now, since something of the question goes on in it that nobody waits for, or since it has grown.
	Leaving bool
}

// failed puts an error into the answer.
func (a *answer) failed(err error) {
	if err == nil {
		return
	}
	if found, ok := errors.AsType[*diag.FindingsError](err); ok {
		a.Findings = found.Findings
		return
	}
	text := err.Error()
	a.Error = &text
}

// err is the error that was put in.
func (a *answer) err() error {
	if a.Error != nil {
		return errors.New(*a.Error)
	}
	return a.Findings.Err()
}

// call is what a child asks back, reply the answer.
type call struct {
	// What is "redact" (Text), "learn" (Text of Instance), "random" (N bytes) or "now".
	What, Text, Instance string
	N                    int
}

type reply struct {
	Text  string
	Bytes []byte
	Now   int64
}

// send writes one message.
func send(w io.Writer, k kind, v any) error {
	body, err := wire.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", errCarry, err)
	}
	if len(body) > maxFrame {
		return fmt.Errorf("%w: a message of %d MiB", errCarry, len(body)>>20)
	}
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), byte(k))
	_, err = w.Write(append(head, body...))
	return err
}

var (
	// errCarry: a value cannot be handed over; nothing was sent.
	errCarry = errors.New("it cannot be handed to another process")
	// errGarbage: what came is no message.
	errGarbage = errors.New("what came is no message")
)

// receive reads one message, of which no more is allocated than comes.
func receive(r io.Reader) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return 0, nil, errGarbage
	}
	var body bytes.Buffer
	if n, err := io.CopyN(&body, r, int64(size)); err != nil || n != int64(size) {
		return 0, nil, errGarbage
	}
	return kind(head[4]), body.Bytes(), nil
}
