package planfile

import "reflect"

// CopyFields sets every field of to that from has by the same name.
func CopyFields(to, from reflect.Value) {
	for i := range to.NumField() {
		if f := from.FieldByName(to.Type().Field(i).Name); f.IsValid() {
			to.Field(i).Set(f)
		}
	}
}
