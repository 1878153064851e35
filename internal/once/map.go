package once

import (
	"context"
	"math"
	"sync"
)

// Map keeps what was asked by keys, each asked once and shared as a Value is. The zero value keeps every answer; a Map
// must not be copied.
type Map[K comparable, T any] struct {
	// Most bounds what is kept: what nobody asked for longest goes first. 0 sets no bound.
	Most int64
	// Weight is what one answer counts; nil counts 1 each.
	Weight func(T) int64

	mu     sync.Mutex
	known  map[K]*slot[T]
	clock  int64
	weight int64
}

type slot[T any] struct {
	value        Value[T]
	users        int
	used, weight int64
	weighed      bool
}

// Get is the answer for a key, as Value.Get says.
func (m *Map[K, T]) Get(ctx context.Context, key K, ask func() (T, error)) (T, error) {
	s := m.enter(key)
	defer m.leave(key, s, true)
	return s.value.Get(ctx, ask)
}

// Try is Get that keeps no errors: those who waited have them, and who tries later asks again.
func (m *Map[K, T]) Try(ctx context.Context, key K, ask func() (T, error)) (T, error) {
	s := m.enter(key)
	defer m.leave(key, s, false)
	return s.value.Get(ctx, ask)
}

// Forgive forgets the errors that are kept: who asks from now on asks anew.
func (m *Map[K, T]) Forgive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, s := range m.known {
		if _, done, err := s.value.answer(); done && err != nil && s.users == 0 {
			m.weight -= s.weight
			delete(m.known, k)
		}
	}
}

// Forget forgets what was answered for a key: who asks from now on asks anew.
func (m *Map[K, T]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.known[key]; s != nil {
		m.weight -= s.weight
		delete(m.known, key)
	}
}

// Len is the number of keys for which something is kept or asked.
func (m *Map[K, T]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.known)
}

func (m *Map[K, T]) enter(key K) *slot[T] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[K]*slot[T]{}
	}
	s := m.known[key]
	if s == nil {
		s = &slot[T]{}
		m.known[key] = s
	}
	m.clock++
	s.used = m.clock
	s.users++
	return s
}

// leave keeps what was answered, and forgets what nobody can use.
func (m *Map[K, T]) leave(key K, s *slot[T], errors bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.users--
	if m.known[key] != s {
		return
	}
	value, done, err := s.value.answer()
	switch {
	case done && (err == nil || errors):
		if !s.weighed {
			s.weighed, s.weight = true, 1
			if m.Weight != nil && err == nil {
				s.weight = max(1, m.Weight(value))
			}
			m.weight += s.weight
		}
		m.evict()
	case done, s.users == 0: // failed, or given up by all
		delete(m.known, key)
	}
}

// evict is called with mu held.
func (m *Map[K, T]) evict() {
	for m.Most > 0 && m.weight > m.Most {
		var oldest K
		at := int64(math.MaxInt64)
		for k, s := range m.known {
			if s.weighed && s.users == 0 && s.used < at {
				oldest, at = k, s.used
			}
		}
		if at == math.MaxInt64 {
			return // all of them are in use
		}
		m.weight -= m.known[oldest].weight
		delete(m.known, oldest)
	}
}
