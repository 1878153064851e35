package fleet

import "strings"

// Told is a runtime value for people: "staging (env)"; a secret one shows only where it came from.
func (v Value) Told(name string) string {
	value, origin := v.Value, v.Origin
	if v.Secret {
		value = "hidden"
	}
	if origin == "env "+name {
		origin = "env"
	}
	return value + " (" + origin + ")"
}

// Moved is the change of a runtime value from one text of Told to another: "GROUP staging -> production (env)". The values
// pass mask: one may be a secret of another name, or have become one.
func Moved(name, was, now string, mask func(string) string) string {
	old, from := cutOrigin(was)
	value, origin := cutOrigin(now)
	if from == origin {
		from = ""
	}
	return name + " " + mask(old) + from + " -> " + mask(value) + origin
}

func cutOrigin(text string) (value, origin string) {
	if i := strings.LastIndex(text, " ("); i > 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
