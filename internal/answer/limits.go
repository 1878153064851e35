package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits are what an answer may cost.
type Limits struct {
	// Bytes after decompression; Weight when it is understood, as the function Weight tells.
	Bytes, Weight int64
	// Packed: compressed answers are asked for. One object is never worth it, and a compressed one can be a thousand
	// times what was sent.
	Packed bool
}

// What answers may cost: one object, the kinds of a cluster, a page of a list. etcd keeps no object of more than 1.5 MiB (--max-request-bytes, often raised to some MiB), the
// discovery of a cluster with a thousand definitions has about 1 MiB.
var (
	Object    = Limits{Bytes: 8 << 20, Weight: 64 << 20}
	Discovery = Limits{Bytes: 16 << 20, Weight: 64 << 20, Packed: true}
	Page      = Limits{Bytes: 64 << 20, Weight: 256 << 20, Packed: true}
)

// nodeWeight is about what one value of JSON takes as a Go value.
const nodeWeight = 64

// Weight is about the memory that JSON takes when it is understood: its bytes and its values. Braces and commas inside
// of texts count as well; limits leave room for them.
func Weight(data []byte) int64 {
	n := bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'{'}) + bytes.Count(data, []byte{'['})
	return int64(len(data)) + nodeWeight*int64(n)
}

// Items hands the objects of a list on one by one, as the bytes that stand there, which are valid until the next one. An
// object larger than one can be, a Status and anything but a list are errors; item's are returned as they are.
func Items(list []byte, item func(raw []byte) error) (metav1.ListMeta, error) {
	var head metav1.ListMeta
	dec := json.NewDecoder(bytes.NewReader(list))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return head, errors.Join(errors.New("it is no list"), err)
	}
	kind, items := "", false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return head, err
		}
		switch key {
		case "metadata":
			err = dec.Decode(&head)
		case "items":
			items, err = true, each(dec, item)
		case "kind":
			err = dec.Decode(&kind)
		default:
			var other json.RawMessage
			err = dec.Decode(&other)
		}
		if err == nil && kind == "Status" {
			err = errors.New("it is a Status and no list")
		}
		if err != nil {
			return head, err
		}
	}
	if kind == "" || !items { // an empty list says so: nothing is taken for absent because of an answer that is none
		return head, errors.New("it is no list")
	}
	return head, nil
}

// each hands on the items at which the decoder stands; null is none.
func each(dec *json.Decoder, item func(raw []byte) error) error {
	t, err := dec.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errors.New("its items are no list")
	}
	var raw json.RawMessage
	for dec.More() {
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if int64(len(raw)) > Object.Bytes || Weight(raw) > Object.Weight {
			return fmt.Errorf("an object in it has more than %d MiB", Object.Bytes>>20)
		}
		if err := item(raw); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}
