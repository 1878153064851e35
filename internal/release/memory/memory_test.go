package memory_test

import (
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
	"hawser.dev/hawser/internal/release/storetest"
)

func TestStore(t *testing.T) {
	s := memory.New("c1")
	storetest.Run(t, func(*testing.T) release.Store { return s })
}
