package neversecret

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Text is a text at a path of an object as it is shown: where it is JSON each text and number in it passes by itself through what Mask says at its
// place, so that nothing is hidden for what stands around it, and each key through key, with the field that it is below. What own hides is hidden
// in the JSON as it is written, too. What is no JSON passes as a whole.
func Text(group, kind string, path []string, text string, mask, own func(text string) string, key func(field, name string) string) string {
	dec, value := json.NewDecoder(strings.NewReader(text)), any(nil)
	dec.UseNumber()
	if dec.Decode(&value) != nil || dec.More() {
		return Mask(group, kind, path, mask, own)(text)
	}
	t := texts{group: group, kind: kind, mask: mask, own: own, key: key}
	out := t.value(path, value)
	if _, number := value.(json.Number); number && t.hidden {
		text, _ = out.(string)
	} else if t.hidden {
		shown, err := diag.JSON(out)
		if err != nil {
			return Mask(group, kind, path, mask, own)(text)
		}
		text = shown
	}
	return Mask(group, kind, path, own, own)(text)
}

type texts struct {
	group, kind string
	mask, own   func(text string) string
	key         func(field, name string) string
	hidden      bool // something
}

func (t *texts) value(path []string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		field, out := "", make(map[string]any, len(v))
		if len(path) > 0 {
			field = path[len(path)-1]
		}
		for name, item := range v {
			shown := t.key(field, name)
			t.hidden = t.hidden || shown != name
			for n, first := 2, shown; ; n++ { // two secret names are two entries still
				if _, taken := out[shown]; !taken {
					break
				}
				shown = first + strconv.Itoa(n)
			}
			out[shown] = t.value(append(slices.Clip(path), name), item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = t.value(append(slices.Clip(path), ""), item)
		}
		return out
	case string:
		return t.text(path, v)
	case json.Number:
		if shown := t.text(path, string(v)); shown != string(v) {
			return shown
		}
	}
	return v
}

func (t *texts) text(path []string, text string) string {
	shown := Mask(t.group, t.kind, path, t.mask, t.own)(text)
	t.hidden = t.hidden || shown != text
	return shown
}
