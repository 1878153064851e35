package lineage

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the most letters of a bundle's name.
const maxName = 63

// BundleName is the name of a bundle that has none, made of the namespace it goes to ("" for none) and a directory's path:
// two folders of one name in different namespaces are two bundles. A path that would be too long is cut and hashed.
func BundleName(namespace, path string) string {
	name := strings.ToLower(strings.ReplaceAll(strings.Trim(path, "/"), "/", "-"))
	if namespace != "" {
		name = namespace + "-" + name
	}
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:maxName-9], "-._") + "-" + hex.EncodeToString(sum[:4])
}
