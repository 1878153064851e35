package operation

import (
	"errors"
	"slices"
	"testing"

	"hawser.dev/hawser/internal/exitcode"
)

// TestEach: what is wrong with all bundles in the same words is told once; where one of them is otherwise each is told what came of it, in order, and
// as soon as that is known.
func TestEach(t *testing.T) {
	down, gone := errors.New("the cluster is down"), errors.New("gone")
	for name, c := range map[string]struct {
		errs []error
		told []string
		code int
	}{
		"all fine":         {[]error{nil, nil, nil}, []string{"a", "b", "c"}, exitcode.Done},
		"all alike":        {[]error{down, errors.New("the cluster is down"), down}, []string{"a"}, exitcode.Error},
		"the last is not":  {[]error{down, down, nil}, []string{"a", "b", "c"}, exitcode.Error},
		"the first is not": {[]error{nil, down, down}, []string{"a", "b", "c"}, exitcode.Error},
		"of two kinds":     {[]error{down, gone, down}, []string{"a", "b", "c"}, exitcode.Error},
	} {
		var told []string
		code, err := Each([]string{"a", "b", "c"}, func(name string) Told {
			if err := c.errs[name[0]-'a']; err != nil {
				return Told{err, func() error { told = append(told, name); return err }}
			}
			if c.errs[0] == nil && len(told) != int(name[0]-'a') {
				t.Errorf("%s: %v are told before %s is read", name, told, name)
			}
			return Told{nil, func() error { told = append(told, name); return nil }}
		}, func(err error) (int, bool) { return exitcode.Of(err), false })
		if !slices.Equal(told, c.told) || code != c.code || err != nil {
			t.Errorf("%s: %v, code %d, %v", name, told, code, err)
		}
	}
	read := 0
	_, err := Each([]string{"a", "b"}, func(string) Told { read++; return Told{nil, func() error { return gone }} }, func(error) (int, bool) { return 1, true })
	if read != 1 || err != gone || Failed(gone).Show() != gone {
		t.Errorf("%d were read, %v", read, err)
	}
}
