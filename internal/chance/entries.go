package chance

import "maps"

// Entries are those of Secrets: NAMESPACE/NAME -> key -> base64.
type Entries map[string]map[string]string

// Within are the entries that keys names.
func (e Entries) Within(keys Entries) Entries {
	return e.kept(func(name, key string) bool { _, named := keys[name][key]; return named })
}

// OfSecrets are the entries of the Secrets that others have, whatever those hold.
func (e Entries) OfSecrets(others Entries) Entries {
	return e.kept(func(name, _ string) bool { return others[name] != nil })
}

// Without are the entries that keys does not name.
func (e Entries) Without(keys Entries) Entries {
	return e.kept(func(name, key string) bool { _, named := keys[name][key]; return !named })
}

// Equal are the entries that others have with the same value.
func (e Entries) Equal(others Entries) Entries {
	return e.kept(func(name, key string) bool { value, there := others[name][key]; return there && value == e[name][key] })
}

// Len is how many entries there are.
func (e Entries) Len() (n int) {
	for _, held := range e {
		n += len(held)
	}
	return n
}

func (e Entries) kept(keeps func(name, key string) bool) Entries {
	out := Entries{}
	for name, held := range e {
		for key, value := range held {
			if !keeps(name, key) {
				continue
			}
			if out[name] == nil {
				out[name] = map[string]string{}
			}
			out[name][key] = value
		}
	}
	return out
}

// Over puts entries over these.
func (e Entries) Over(over Entries) Entries {
	out := Entries{}
	for _, m := range []Entries{e, over} {
		for name, held := range m {
			if out[name] == nil {
				out[name] = map[string]string{}
			}
			maps.Copy(out[name], held)
		}
	}
	return out
}

// Beside are these and the entries of the same Secrets, as a render has them, that are none of keys: nothing is made up for those.
func (e Entries) Beside(rendered, keys Entries) Entries {
	return e.Over(rendered.kept(func(name, key string) bool {
		_, made := keys[name][key]
		return e[name] != nil && !made
	}))
}

// Lacking are the entries among keys that these Secrets do not have.
func (e Entries) Lacking(keys Entries) Entries {
	return keys.kept(func(name, key string) bool {
		_, there := e[name][key]
		return e[name] != nil && !there
	})
}
