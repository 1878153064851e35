//go:build seam

// This file holds the dependencies of rooms that are being built; it goes when they are there.
package main

import (
	_ "filippo.io/age"
	_ "filippo.io/age/armor"
	_ "github.com/Masterminds/semver/v3"
	_ "github.com/google/go-containerregistry/pkg/registry"
	_ "github.com/opencontainers/image-spec/specs-go/v1"
	_ "golang.org/x/crypto/chacha20poly1305"
	_ "golang.org/x/sync/singleflight"
	_ "helm.sh/helm/v4/pkg/chart/common"
	_ "helm.sh/helm/v4/pkg/chart/common/util"
	_ "helm.sh/helm/v4/pkg/chart/loader"
	_ "helm.sh/helm/v4/pkg/chart/loader/archive"
	_ "helm.sh/helm/v4/pkg/chart/v2/loader"
	_ "helm.sh/helm/v4/pkg/chart/v2/util"
	_ "helm.sh/helm/v4/pkg/engine"
	_ "helm.sh/helm/v4/pkg/release/v1/util"
	_ "helm.sh/helm/v4/pkg/repo/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "oras.land/oras-go/v2"
	_ "oras.land/oras-go/v2/content/oci"
	_ "oras.land/oras-go/v2/registry/remote"
	_ "oras.land/oras-go/v2/registry/remote/auth"
	_ "oras.land/oras-go/v2/registry/remote/credentials"
	_ "oras.land/oras-go/v2/registry/remote/retry"
	_ "sigs.k8s.io/kustomize/api/krusty"
	_ "sigs.k8s.io/kustomize/kyaml/filesys"
)
