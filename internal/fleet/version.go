package fleet

// defaultBuildVersion is taken by a build without a cluster, as Timoni does.
const defaultBuildVersion = "1.36.3"

// BuildVersion is the version of Kubernetes that a build without a cluster renders for: that of the environment, ours or
// Timoni's, or a recent one.
func BuildVersion(env map[string]string) string {
	for _, name := range []string{"HAWSER_KUBE_VERSION", "TIMONI_KUBE_VERSION"} {
		if v := env[name]; v != "" {
			return v
		}
	}
	return defaultBuildVersion
}
