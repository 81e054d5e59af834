// Servers: a goroutine a connection, or net/http. One prints its port and serves until a signal ends it.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	body  = "The same 32 bytes for everybody\n"
	reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\n" + body
)

// sockets serves this workload; options that are the client's own are not looked at.
func sockets(talk string) func(options) uint64 {
	return func(o options) uint64 {
		serve(talk, o)
		return 0
	}
}

// serve never returns.
func serve(talk string, o options) {
	if talk == "stuck" {
		runtime.GOMAXPROCS(int(o.number("--workers", 2)))
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail("cannot listen", err.Error())
	}
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	kind, stuck := o.text("--kind", "all"), time.Duration(o.number("--stuck-ms", 1000))*time.Millisecond
	if kind == "net-http" {
		fail("the server ended", http.Serve(listener, http.HandlerFunc(netHTTP)).Error())
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			fail("accept", err.Error())
		}
		h := handler{connection: connection.(*net.TCPConn), talk: talk, stuck: stuck}
		if kind == "ready" {
			go h.whenReady()
		} else {
			go h.serve()
		}
	}
}

// netHTTP says no date, as the others.
func netHTTP(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header["Date"] = nil
	header.Set("Content-Type", "text/plain")
	header.Set("Content-Length", "32")
	io.WriteString(w, body)
}

// handler is what is kept of a connection: seen is how much of the end of a request's head there was.
type handler struct {
	connection *net.TCPConn
	talk       string
	seen       int
	stuck      time.Duration
}

// serve reads as one does in Go: into a buffer that it has while it waits.
func (h *handler) serve() {
	defer h.connection.Close()
	buffer := make([]byte, 4096)
	for {
		count, err := h.connection.Read(buffer)
		if err != nil || !h.answer(buffer[:count]) {
			return
		}
	}
}

// buffers are those that nobody has.
var buffers = sync.Pool{New: func() any { return new([4096]byte) }}

// whenReady waits until there is something to read, and has a buffer only then.
func (h *handler) whenReady() {
	defer h.connection.Close()
	raw, err := h.connection.SyscallConn()
	if err != nil {
		return
	}
	for goesOn := true; goesOn; {
		var buffer *[4096]byte
		count := 0
		err := raw.Read(func(socket uintptr) bool {
			buffer = buffers.Get().(*[4096]byte)
			var trouble error
			count, trouble = syscall.Read(int(socket), buffer[:])
			if trouble == syscall.EAGAIN {
				buffers.Put(buffer)
				return false
			}
			return true
		})
		if err != nil {
			return
		}
		goesOn = count > 0 && h.answer(buffer[:count])
		buffers.Put(buffer)
	}
}

// answer says whether the connection goes on.
func (h *handler) answer(got []byte) bool {
	if h.talk == "echo" {
		_, err := h.connection.Write(got)
		return err == nil
	}
	if h.talk == "stuck" && bytes.HasPrefix(got, []byte("GET /stuck")) {
		// Not time.Sleep, which would block no thread.
		asleep := syscall.NsecToTimespec(int64(h.stuck))
		for syscall.Nanosleep(&asleep, &asleep) == syscall.EINTR {
		}
	}
	for ends := h.ends(got); ends > 0; ends-- {
		if _, err := h.connection.Write([]byte(reply)); err != nil || h.talk == "connect" {
			return false
		}
	}
	return true
}

// ends is how many requests end in these bytes.
func (h *handler) ends(got []byte) int {
	ends := 0
	for _, char := range got {
		switch {
		case char == "\r\n\r\n"[h.seen]:
			h.seen++
		case char == '\r':
			h.seen = 1
		default:
			h.seen = 0
		}
		if h.seen == 4 {
			ends++
			h.seen = 0
		}
	}
	return ends
}
