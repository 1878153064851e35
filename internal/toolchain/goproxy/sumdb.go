package goproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"

	"hawser.dev/hawser/internal/rootfs"
)

// The checksum database of Go, as the go command knows it.
const (
	defaultDatabase = "sum.golang.org"
	defaultKey      = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
)

// check compares a sum with what the checksum database has signed. GOSUMDB=off, GONOSUMDB and GOPRIVATE turn it off.
func (c *Client) check(ctx context.Context, mod, version, sum string) error {
	name := cmp.Or(c.opts.Getenv("GOSUMDB"), defaultDatabase)
	if name == "off" || module.MatchPrefixPatterns(cmp.Or(c.opts.Getenv("GONOSUMDB"), c.opts.Getenv("GOPRIVATE")), mod) {
		return nil
	}
	key, address, _ := strings.Cut(name, " ")
	if key == defaultDatabase {
		key = defaultKey
	}
	host, _, _ := strings.Cut(key, "+")
	db := &database{client: c, ctx: ctx, name: host, key: key, address: cmp.Or(strings.TrimRight(strings.TrimSpace(address), "/"), "https://"+host)}
	lines, err := sumdb.NewClient(db).Lookup(mod, version)
	if err != nil {
		return c.failure("go-sum", "the sum of "+mod+" "+version+" cannot be checked", errors.Join(err, db.security), "GOSUMDB names the checksum database, as for the go command")
	}
	if !slices.Contains(lines, mod+" "+version+" "+sum) {
		return c.failure(mismatch, mod+" "+version+" is not what the checksum database has signed",
			fmt.Errorf("got %s, signed is %s", sum, strings.Join(lines, "; ")), "the proxy gave something else: do not use it")
	}
	return nil
}

// database is how sumdb's client reaches the database and its cache.
type database struct {
	client   *Client
	ctx      context.Context
	name     string
	key      string
	address  string
	security error
}

var _ sumdb.ClientOps = (*database)(nil)

// ReadRemote asks the proxies, which may serve the database too, then the database itself.
func (d *database) ReadRemote(path string) ([]byte, error) {
	if data, err := d.client.get(d.ctx, "/sumdb/"+d.name+path, maxList); err == nil {
		return data, nil
	}
	return d.client.fetch(d.ctx, d.address+path, maxList)
}

func (d *database) file(name string) string {
	return filepath.Join(d.client.opts.Dir, "sumdb", filepath.FromSlash(name))
}

// ReadConfig gives the key, and the tree seen last, empty when there is none.
func (d *database) ReadConfig(name string) ([]byte, error) {
	if name == "key" {
		return []byte(d.key), nil
	}
	if d.client.opts.Dir != "" {
		if data, err := rootfs.ReadFile(d.file(name), rootfs.MaxSmall); err == nil {
			return data, nil
		}
	}
	return nil, nil
}

// WriteConfig keeps the tree seen last.
func (d *database) WriteConfig(name string, old, data []byte) error {
	if d.client.opts.Dir == "" {
		return nil
	}
	if now, err := d.ReadConfig(name); err != nil || string(now) != string(old) {
		return sumdb.ErrWriteConflict
	}
	_ = keep(d.file(name), data) // a cache that cannot be written costs time alone
	return nil
}

// ReadCache reads what was kept.
func (d *database) ReadCache(name string) ([]byte, error) {
	if d.client.opts.Dir == "" {
		return nil, os.ErrNotExist
	}
	return rootfs.ReadFile(d.file(name), rootfs.MaxSmall)
}

// WriteCache keeps what was read.
func (d *database) WriteCache(name string, data []byte) {
	if d.client.opts.Dir != "" {
		_ = keep(d.file(name), data)
	}
}

// Log is silent.
func (d *database) Log(string) {}

// SecurityError keeps why the database cannot be trusted.
func (d *database) SecurityError(msg string) { d.security = errors.New(msg) }
