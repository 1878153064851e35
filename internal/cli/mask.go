package cli

import (
	"io"

	"hawser.dev/hawser/internal/mask"
	"hawser.dev/hawser/internal/terminal"
)

// masked is the App with streams that hide what Mask hides.
func (a *App) masked() *App {
	if a.Mask == nil {
		return a
	}
	out := *a
	out.Out, out.Err = &mask.Writer{To: a.Out, Mask: a.Mask}, &mask.Writer{To: a.Err, Mask: a.Mask}
	is := a.IsTerminal
	if is == nil {
		is = terminal.Is
	}
	out.IsTerminal = func(stream any) bool {
		if w, ok := stream.(*mask.Writer); ok {
			stream = w.To
		}
		return is(stream)
	}
	return &out
}

// maskedLike is a writer to another place that hides what a stream hides.
func maskedLike(stream, to io.Writer) io.Writer {
	if m, ok := stream.(*mask.Writer); ok {
		return &mask.Writer{To: to, Mask: m.Mask, Typed: m.Typed}
	}
	return to
}

// unmasked is the stream below, for what must be printed as it is.
func unmasked(w io.Writer) io.Writer {
	if m, ok := w.(*mask.Writer); ok {
		return m.To
	}
	return w
}

// hideArguments hides credentials of the command line, wherever they stand in it: in all that is said about the run those that may be some,
// in what is printed those that are unmistakable.
func (s *session) hideArguments(maybe, unmistakable func(string) string) {
	own := *s.App
	if m, ok := s.Err.(*mask.Writer); ok && maybe != nil {
		own.Err = &mask.Writer{To: m.To, Mask: m.Mask, Typed: maybe}
	}
	if m, ok := s.Out.(*mask.Writer); ok && unmistakable != nil {
		own.Out = &mask.Writer{To: m.To, Mask: m.Mask, Typed: unmistakable}
	}
	s.App = &own
}
