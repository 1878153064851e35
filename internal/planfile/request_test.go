package planfile

import (
	"reflect"
	"testing"
)

// What has the same name in both is copied, and nothing else is touched.
func TestCopyFields(t *testing.T) {
	to := struct {
		A string
		B int
	}{"x", 1}
	CopyFields(reflect.ValueOf(&to).Elem(), reflect.ValueOf(struct {
		A string
		C int
	}{"y", 2}))
	if to.A != "y" || to.B != 1 {
		t.Errorf("%+v", to)
	}
}
