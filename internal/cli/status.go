package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/report"
)

// watchEvery is the pause between two looks of status --watch.
const watchEvery = 2 * time.Second

func (s *session) status(cmd *cobra.Command, args []string) error {
	if err := checkForm(s.opts.output, dataForms...); err != nil {
		return err
	}
	if err := s.stdinAndName(args); err != nil {
		return err
	}
	req, err := s.request(cmd)
	if err != nil {
		return err
	}
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	last := ""
	for {
		r, err := operation.Status(cmd.Context(), eng, req, s.Bundles)
		if r == nil {
			return s.failed(err)
		}
		text, perr := s.statusText(r)
		if perr != nil {
			return perr
		}
		if text != last {
			head := ""
			if last != "" && s.opts.output == "text" {
				head = "\n" + s.Now().Format("15:04:05") + "\n"
			}
			if _, werr := io.WriteString(unmasked(s.Out), head+text); werr != nil {
				return werr
			}
		}
		if errors.Is(err, fleetplan.ErrNotReady) {
			s.differ("status", fmt.Sprintf("status exits with %d because something is not ready", exitcode.NotReady))
		}
		if last = text; !s.opts.watch || err == nil || !waitable(err) {
			return reported(err)
		}
		if werr := pause(cmd.Context(), watchEvery); werr != nil {
			return werr
		}
	}
}

// statusText is a report in the form asked for, with what is secret hidden.
func (s *session) statusText(r *fleetplan.StatusReport) (string, error) {
	var b bytes.Buffer
	var err error
	switch w := maskedLike(s.Out, &b); s.opts.output {
	case "json":
		err = report.JSON(w, r)
	case "yaml":
		err = report.YAML(w, r)
	default:
		err = report.Status(w, r, s.style(s.Out))
	}
	return b.String(), err
}

// waitable reports whether looking again may change the answer.
func waitable(err error) bool {
	return errors.Is(err, fleetplan.ErrNotReady) || errors.Is(err, fleetplan.ErrPartial)
}

// reported keeps the exit code of an error whose report was printed.
func reported(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return exitcode.Said(exitcode.Of(err))
}

// pause sleeps, or ends with the context.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
