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

// SecretTexts are what the Secrets among bodies hold, decoded, as they are declared, kept or live.
func SecretTexts(bodies ...map[string]any) []string {
	var out []string
	for _, body := range bodies {
		if !(Object{Body: body}).Ref().IsSecret() {
			continue
		}
		data, _ := body["data"].(map[string]any)
		for _, v := range data {
			text, _ := v.(string)
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
				out = append(out, string(plain))
			}
		}
		given, _ := body["stringData"].(map[string]any)
		for _, v := range given {
			if text, ok := v.(string); ok {
				out = append(out, text)
			}
		}
	}
	return out
}
