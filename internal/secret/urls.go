package secret

import (
	"regexp"
	"strings"
)

// userInfo finds the user and password of a URL; over HTTP a user alone is a token.
var userInfo = regexp.MustCompile(`\b((?:https?|oci|chart\+https?)://)[^/@\s"'<>]+@|\b([a-zA-Z][a-zA-Z0-9+.-]*://[^/:@\s"'<>]*:)[^/@\s"'<>]+@`)

// hideURLs masks what authenticates in the URLs of a text: all of the user part over HTTP, else the password.
func hideURLs(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return text
	}
	return userInfo.ReplaceAllString(text, "${1}${2}"+Mask+"@")
}
