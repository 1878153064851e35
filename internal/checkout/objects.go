package checkout

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/rootfs"
)

const (
	// maxObject bounds a commit or tree that is read, maxDeltas how many deltas one may be made of.
	maxObject = 8 << 20
	maxDeltas = 100
	// maxPacks bounds the packs that are looked into.
	maxPacks = 1000
)

var errUnread = errors.New("the object cannot be read")

// store reads commits and trees of a repository: loose ones, and those in packs (index version 2).
type store struct {
	dirs  []string // of objects, the repository's own first
	hash  int      // bytes of a name: 20, or 32 in a repository with SHA-256
	packs []string // without their endings
}

// openStore is the store of the repository whose git directory this is; name is that of one of its objects.
func openStore(git, name string) *store {
	s := &store{hash: len(name) / 2, dirs: []string{filepath.Join(common(git), "objects")}}
	for line := range strings.Lines(small(filepath.Join(s.dirs[0], "info", "alternates"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			if !filepath.IsAbs(line) {
				line = filepath.Join(s.dirs[0], line)
			}
			s.dirs = append(s.dirs, line)
		}
	}
	for _, dir := range s.dirs {
		found, _ := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
		for _, f := range found[:min(len(found), maxPacks)] {
			s.packs = append(s.packs, strings.TrimSuffix(f, ".idx"))
		}
	}
	return s
}

// read is an object's type ("commit", "tree") and content.
func (s *store) read(name string, deltas int) (kind string, data []byte, err error) {
	id, err := hex.DecodeString(name)
	if err != nil || len(id) != s.hash || deltas > maxDeltas {
		return "", nil, errUnread
	}
	for _, dir := range s.dirs {
		f, err := rootfs.OpenFile(filepath.Join(dir, name[:2], name[2:]))
		if err != nil {
			continue
		}
		text, err := inflate(f, maxObject)
		_ = f.Close()
		head, body, ok := bytes.Cut(text, []byte{0})
		kind, _, _ := strings.Cut(string(head), " ")
		if err != nil || !ok {
			return "", nil, errUnread
		}
		return kind, body, nil
	}
	for _, pack := range s.packs {
		if at, ok := s.find(pack+".idx", id); ok {
			return s.packed(pack+".pack", at, deltas)
		}
	}
	return "", nil, errUnread
}

func inflate(r io.Reader, limit int) ([]byte, error) {
	z, err := zlib.NewReader(bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = errUnread
	}
	return data, err
}

// find is where an object begins in the pack of an index.
func (s *store) find(index string, id []byte) (at int64, ok bool) {
	f, err := rootfs.OpenFile(index)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	word := func(at int64) int64 {
		var b [4]byte
		if _, rerr := f.ReadAt(b[:], at); rerr != nil {
			err = rerr
		}
		return int64(binary.BigEndian.Uint32(b[:]))
	}
	const fan, names = 8, 8 + 256*4
	if word(0) != 0xff744f63 || word(4) != 2 {
		return 0, false
	}
	from, count := int64(0), word(fan+255*4)
	if id[0] > 0 {
		from = word(fan + int64(id[0]-1)*4)
	}
	to := word(fan + int64(id[0])*4)
	if err != nil || from > to || to > count {
		return 0, false
	}
	got := make([]byte, s.hash)
	i := from + int64(sort.Search(int(to-from), func(k int) bool {
		if _, rerr := f.ReadAt(got, names+(from+int64(k))*int64(s.hash)); rerr != nil {
			err = rerr
		}
		return bytes.Compare(got, id) >= 0
	}))
	if i >= to || err != nil {
		return 0, false
	}
	if _, rerr := f.ReadAt(got, names+i*int64(s.hash)); rerr != nil || !bytes.Equal(got, id) {
		return 0, false
	}
	offsets := names + count*int64(s.hash) + count*4 // behind the checksums
	at = word(offsets + i*4)
	if at&0x80000000 != 0 { // of a pack of more than 2 GiB
		big := offsets + count*4 + (at&0x7fffffff)*8
		at = word(big)<<32 | word(big+4)
	}
	return at, err == nil && at > 0
}

// packed reads the object that begins at a place of a pack.
func (s *store) packed(pack string, at int64, deltas int) (kind string, data []byte, err error) {
	f, err := rootfs.OpenFile(pack)
	if err != nil || deltas > maxDeltas {
		return "", nil, errUnread
	}
	defer f.Close()
	r := bufio.NewReader(io.NewSectionReader(f, at, 1<<62))
	b, err := r.ReadByte()
	if err != nil {
		return "", nil, err
	}
	what := b >> 4 & 7
	for b&0x80 != 0 { // the size, which the content tells too
		if b, err = r.ReadByte(); err != nil {
			return "", nil, err
		}
	}
	var base []byte
	switch what {
	case 1, 2, 3, 4:
		data, err = inflate(r, maxObject)
		return [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}[what], data, err
	case 6:
		back, rerr := offset(r)
		if rerr != nil || back <= 0 || back >= at {
			return "", nil, errUnread
		}
		kind, base, err = s.packed(pack, at-back, deltas+1)
	case 7:
		id := make([]byte, s.hash)
		if _, err = io.ReadFull(r, id); err == nil {
			kind, base, err = s.read(hex.EncodeToString(id), deltas+1)
		}
	default:
		err = errUnread
	}
	if err != nil {
		return "", nil, err
	}
	delta, err := inflate(r, maxObject)
	if err == nil {
		data, err = apply(base, delta)
	}
	return kind, data, err
}

// offset is how far a delta's base is before it.
func offset(r io.ByteReader) (int64, error) {
	b, err := r.ReadByte()
	n := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 && n < 1<<50 {
		if b, err = r.ReadByte(); err == nil {
			n = (n+1)<<7 | int64(b&0x7f)
		}
	}
	return n, err
}

// apply makes an object of its base and a delta.
func apply(base, delta []byte) ([]byte, error) {
	r := bytes.NewReader(delta)
	from, err1 := binary.ReadUvarint(r)
	to, err2 := binary.ReadUvarint(r)
	if err1 != nil || err2 != nil || from != uint64(len(base)) || to > maxObject {
		return nil, errUnread
	}
	out := make([]byte, 0, to)
	for {
		op, err := r.ReadByte()
		switch {
		case err != nil && uint64(len(out)) == to:
			return out, nil
		case err != nil || op == 0:
			return nil, errUnread
		case op&0x80 == 0:
			part := make([]byte, op)
			if _, err := io.ReadFull(r, part); err != nil {
				return nil, errUnread
			}
			out = append(out, part...)
		default:
			var n [7]int
			for i := range n {
				if op&(1<<i) != 0 {
					b, err := r.ReadByte()
					if err != nil {
						return nil, errUnread
					}
					n[i] = int(b)
				}
			}
			at, size := n[0]|n[1]<<8|n[2]<<16|n[3]<<24, n[4]|n[5]<<8|n[6]<<16
			if size == 0 {
				size = 0x10000
			}
			if at+size > len(base) || len(out)+size > int(to) {
				return nil, errUnread
			}
			out = append(out, base[at:at+size]...)
		}
	}
}

// root is the name of a commit's tree.
func (s *store) root(commit string) (string, error) {
	kind, data, err := s.read(commit, 0)
	first, _, _ := strings.Cut(string(data), "\n")
	tree, ok := strings.CutPrefix(first, "tree ")
	if err != nil || kind != "commit" || !ok {
		return "", fmt.Errorf("commit %s: %w", commit, errUnread)
	}
	return tree, nil
}

// entry is what a tree has under a name.
type entry struct {
	mode int64
	id   string
}

const (
	modeTree = 0o040000
	modeLink = 0o120000
)

// tree are the entries of a tree.
func (s *store) tree(name string) (map[string]entry, error) {
	kind, data, err := s.read(name, 0)
	if err != nil || kind != "tree" {
		return nil, errUnread
	}
	out := map[string]entry{}
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, file, named := strings.Cut(string(head), " ")
		number, err := strconv.ParseInt(mode, 8, 32)
		if !ok || !named || err != nil || len(rest) < s.hash {
			return nil, errUnread
		}
		out[file], data = entry{number, hex.EncodeToString(rest[:s.hash])}, rest[s.hash:]
	}
	return out, nil
}
