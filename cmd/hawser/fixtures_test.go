package main

import (
	"fmt"
	"strings"
)

// The smallest fleet, whose cluster nobody can reach, and the smallest object.
const (
	bombFleet  = "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters: {a: {kubeContext: x}}\n"
	bombObject = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n"
)

// appModule is a module in Timoni's layout: a ConfigMap with the values, one for a client that can be switched off, a
// Secret when there is a token.
const appModule = `
-- modules/app/cue.mod/module.cue --
module: "hawser.test/app"
language: version: "v0.9.0"
-- modules/app/values.cue --
package main

values: {
	message: "hello"
	settings: {}
}
-- modules/app/timoni.cue --
package main

#Config: {
	metadata: {name: string, namespace: string}
	message: string
	client:  *true | bool
	settings: [string]: string
	token?: string
}

values: #Config

timoni: {
	apiVersion: "v1alpha1"
	instance: {
		config: values
		config: metadata: {
			name:      string @tag(name)
			namespace: string @tag(namespace)
		}
		objects: [
			{
				apiVersion: "v1"
				kind:       "ConfigMap"
				metadata:   config.metadata
				data: config.settings & {message: config.message}
			},
			if config.client {
				apiVersion: "v1"
				kind:       "ConfigMap"
				metadata: {name: config.metadata.name + "-client", namespace: config.metadata.namespace}
				data: message: config.message
			},
			if config.token != _|_ {
				apiVersion: "v1"
				kind:       "Secret"
				metadata: {name: config.metadata.name + "-token", namespace: config.metadata.namespace}
				stringData: token: config.token
			},
		]
	}
	apply: app: instance.objects
}
`

// threadBundle is the bundle of the thread, with values where it has comments and a module that is a folder.
const threadBundle = appModule + `
-- bundle.cue --
bundle: {
    _cluster: string @timoni(runtime:string:TIMONI_CLUSTER_NAME)
    _env:     string @timoni(runtime:string:TIMONI_CLUSTER_GROUP)

    apiVersion: "v1alpha1"
    name:       "$B"
    instances: {
        "my-app": {
            module: url: "file://./modules/app"
            namespace: "$NS"
            values: {
                // common values to all clusters in all environments
                settings: everywhere: "yes"
                settings: name: _cluster

                if _env == "staging" {
                    // common values to all staging clusters
                    message: "for staging"
                }

                if _env == "production" {
                    // common values to all production clusters
                    message: "for production"

                    if _cluster == "production-us" {
                        // cluster specific values
                        settings: only: "us"
                    }
                }
            }
        }
    }
}
`

// threadFleet is the runtime of the thread on the clusters of this package.
const threadFleet = `
-- runtime.cue --
runtime: {
    apiVersion: "v1alpha1"
    name:       "$B"
    clusters: {
        "staging-eu": {
            group:       "staging"
            kubeContext: "staging"
        }
        "production-eu": {
            group:       "production"
            kubeContext: "production-eu"
        }
        "production-us": {
            group:       "production"
            kubeContext: "production-us"
        }
    }
    values: [...]
}
`

// configMaps are plain manifests: one ConfigMap per name, with a key v.
func configMaps(v string, names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {v: %q}\n", n, v)
	}
	return b.String()
}
