package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// prompter asks on a terminal. Whatever is not a clear yes is a no: so are an empty answer, the end of the input and
// an interrupt.
type prompter struct {
	in  io.Reader
	out io.Writer
}

// yes asks a question to be answered with y or yes.
func (p prompter) yes(ctx context.Context, question string) (bool, error) {
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

// typed asks for a name to be typed exactly.
func (p prompter) typed(ctx context.Context, question, name string) (bool, error) {
	answer, err := p.ask(ctx, fmt.Sprintf("%s Type the name %s to go on: ", question, name))
	return err == nil && answer == name, err
}

// ask prints a question and reads one line; the end of the input is an empty answer. The error is the context's.
func (p prompter) ask(ctx context.Context, question string) (string, error) {
	if _, err := io.WriteString(p.out, question); err != nil {
		return "", err
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.in).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			_, _ = io.WriteString(p.out, "\n")
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		_, _ = io.WriteString(p.out, "\n")
		return "", ctx.Err()
	}
}
