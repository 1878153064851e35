package main

import (
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/testserver"
)

// delivered tells what the server has of the bundle: "one", "two", "nothing", or a mixture.
func (rig *hostileRig) delivered(srv *testserver.Server) string {
	var has []string
	for _, path := range []string{"configmaps/a", "configmaps/b", "configmaps/gone", "secrets/s"} {
		obj := srv.Object("/api/v1/namespaces/default/" + path)
		switch text := fmt.Sprint(obj["data"]); {
		case obj == nil:
		case path == "configmaps/gone":
			has = append(has, "what should be gone")
		case strings.Contains(text, "two") || strings.Contains(text, "Y2FuYXJ5LWluLWEtYm9keS10d28"):
			has = append(has, "two")
		default:
			has = append(has, "one")
		}
	}
	switch all := strings.Join(has, ", "); all {
	case "":
		return "nothing"
	case "two, two, two":
		return "two"
	default:
		return all
	}
}
