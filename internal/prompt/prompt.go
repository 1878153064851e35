// Package prompt asks questions on a terminal.
//
// prompt must not know what is asked, nor whether anybody is there.
package prompt

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/broke"
)

// Prompter asks on a terminal. Whatever is not a clear yes is a no: so are an empty answer, the end of the input and
// an interrupt.
type Prompter struct {
	In  io.Reader
	Out io.Writer
}

// Yes asks a question to be answered with y or yes. The error is the context's.
func (p Prompter) Yes(ctx context.Context, question string) (bool, error) {
	answer, err := p.ask(ctx, question+" [y/N] ")
	if err != nil {
		return false, err
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// Typed asks for a name to be typed exactly. The error is the context's.
func (p Prompter) Typed(ctx context.Context, question, name string) (bool, error) {
	answer, err := p.ask(ctx, fmt.Sprintf("%s Type the name %s to go on: ", question, name))
	return err == nil && answer == name, err
}

// ask prints a question and reads one line; the end of the input is an empty answer. The error is the context's.
func (p Prompter) ask(ctx context.Context, question string) (string, error) {
	if _, err := io.WriteString(p.Out, question); err != nil {
		return "", err
	}
	answer := make(chan string, 1)
	broke.Go(func() {
		line, _ := bufio.NewReader(p.In).ReadString('\n')
		answer <- line
	})
	select {
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			_, _ = io.WriteString(p.Out, "\n")
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		_, _ = io.WriteString(p.Out, "\n")
		return "", ctx.Err()
	}
}
