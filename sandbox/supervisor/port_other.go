//go:build !linux

package supervisor

import (
	"fmt"
	"net"
)

// portHold would keep a port while its API server is stopped; only Linux can.
type portHold struct{}

// holdPort checks that the port is free, or finds a free one when port is 0.
func holdPort(port int) (*portHold, int, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, 0, err
	}
	return &portHold{}, l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (h *portHold) release() {}
