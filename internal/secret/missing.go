package secret

import (
	"fmt"
	"strconv"
	"strings"
)

// MissingError is the error of an entry of a store that has not what a reference names, and what it has instead.
type MissingError struct {
	// Name is what is missing, Have what there is of its kind, as far as it may be told.
	Name string
	Have []string
	// Text is the message.
	Text string
}

func (e *MissingError) Error() string { return e.Text }

// explain says how far the path of what is missing leads, and what is there.
func (n *Node) explain(e *MissingError) {
	in, at := n.deepest(e.Name)
	names := in.names()
	for _, name := range names {
		e.Have = append(e.Have, strings.TrimPrefix(at+"."+name, "."))
	}
	if at == "" {
		return
	}
	e.Text = fmt.Sprintf("there is no %q; %q ", e.Name, at)
	switch {
	case in.Kind == Map && len(names) > 0:
		e.Text += Names("has the keys", names)
	case in.Kind == Map:
		e.Text += "has no such key"
	case in.Kind == List:
		e.Text += fmt.Sprintf("is a list of %d", len(in.Items))
	default:
		e.Text += "is a single value, or none"
	}
}

// deepest is the node that the longest part of a path leads to, as find reads it, and that part.
func (n *Node) deepest(path string) (in *Node, at string) {
	for end := strings.LastIndexByte(path, '.'); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if child := n.step(path[:end]); child != nil {
			in, at = child.deepest(path[end+1:])
			return in, strings.TrimSuffix(path[:end]+"."+at, ".")
		}
	}
	return n, ""
}

// step is the value of a key of a map, or of the index of a list; nil where there is none.
func (n *Node) step(key string) *Node {
	if n.Kind == List {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Items) && strconv.Itoa(i) == key {
			return n.Items[i]
		}
		return nil
	}
	child, _ := n.Field(key) // one that is given twice is told before
	return child
}
