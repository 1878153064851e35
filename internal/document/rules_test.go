package document

import (
	"reflect"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/specdecode"
)

// TestRulesAreUsed: every format that a tag names has words, every format is named, and every check is of a type of the documents.
func TestRulesAreUsed(t *testing.T) {
	named, types := map[string]bool{"": true}, map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(typ.Elem())
		case reflect.Struct:
			if types[typ] {
				return
			}
			types[typ] = true
			tags, key := specdecode.Fields(typ)
			if key != nil {
				named[key.Format] = true
			}
			for _, tag := range tags {
				named[tag.Format] = true
				if _, ok := formats[tag.Format]; !ok && tag.Format != "" {
					t.Errorf("%v.%s: there is no format %s", typ, tag.Name, tag.Format)
				}
				walk(typ.Field(tag.Index).Type)
			}
		}
	}
	walk(reflect.TypeFor[v1alpha1.BundleSpec]())
	walk(reflect.TypeFor[v1alpha1.FleetSpec]())
	for name := range formats {
		if !named[name] {
			t.Errorf("no field has format %s", name)
		}
	}
	for typ := range rules().Checks {
		if !types[typ] {
			t.Errorf("%v is part of no document", typ)
		}
	}
}
