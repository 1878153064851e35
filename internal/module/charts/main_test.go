package charts

import (
	"testing"

	"hawser.dev/hawser/internal/testtemp"
)

func TestMain(m *testing.M) { testtemp.Main(m) }
