package supervisor

import (
	"fmt"
	"os"
	"syscall"
)

// portHold keeps a loopback port for a cluster while its API server is stopped: a bound socket that does not listen.
// The API server can bind the port beside it (both sockets allow reuse), connections to it are refused meanwhile,
// and the kernel gives the port to nobody else.
type portHold struct{ fd int }

// holdPort takes the port, or a free one when port is 0.
func holdPort(port int) (*portHold, int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	h := &portHold{fd}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		h.release()
		return nil, 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		h.release()
		return nil, 0, fmt.Errorf("port %d on 127.0.0.1: %w", port, err)
	}
	addr, err := syscall.Getsockname(fd)
	if err != nil {
		h.release()
		return nil, 0, os.NewSyscallError("getsockname", err)
	}
	return h, addr.(*syscall.SockaddrInet4).Port, nil
}

func (h *portHold) release() { _ = syscall.Close(h.fd) }
