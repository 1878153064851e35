package object

import "encoding/base64"

// SecretData is the data of a Secret as a cluster has it, decoded.
func SecretData(body map[string]any) (map[string][]byte, error) {
	held, _ := body["data"].(map[string]any)
	out := make(map[string][]byte, len(held))
	for key, v := range held {
		text, _ := v.(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err // the server takes nothing else; the text names an offset alone
		}
		out[key] = data
	}
	return out, nil
}
