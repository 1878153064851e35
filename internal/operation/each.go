package operation

import "hawser.dev/hawser/internal/exitcode"

// Told is what came of something that was only read for a bundle: Err is what is wrong, nil for nothing, and Show tells all of it, errors included. It gives
// back with what the command ends.
type Told struct {
	Err  error
	Show func() error
}

// Failed is an error that is told as it is.
func Failed(err error) Told { return Told{err, func() error { return err }} }

// Each reads for every bundle in order, and has end tell what came of it as it comes: what is wrong with all of them in the same words is told once, by the
// first. It ends with the worst exit code, or with an error at once where end says that there is nobody to go on for.
func Each(names []string, read func(name string) Told, end func(err error) (code int, stop bool)) (code int, stopped error) {
	var held []Told
	for i, name := range names {
		held = append(held, read(name))
		alike, last := Alike(held[0].Err, held[len(held)-1].Err) && i+1 == len(held), i+1 == len(names)
		if alike && !last {
			continue
		}
		if alike {
			held = held[:1]
		}
		for _, t := range held {
			err := t.Show()
			now, stop := end(err)
			if code = exitcode.Worse(code, now); stop {
				return code, err
			}
		}
		held = nil
	}
	return code, nil
}
