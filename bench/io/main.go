// The servers of `./x bench --suite io` in Go: "raw PORT" over plain sockets, a goroutine for each connection; "http PORT" by net/http;
// "tls CERTIFICATE KEY" measures handshakes.
package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const body = "Hello, world!\n"

var response = []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(body), body))

func serve(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 1024)
	used := 0
	for used < len(buffer) {
		got, err := conn.Read(buffer[used:])
		if err != nil {
			return
		}
		used += got
		if bytes.HasSuffix(buffer[:used], []byte("\r\n\r\n")) {
			if _, err := conn.Write(response); err != nil {
				return
			}
			used = 0
		}
	}
}

func raw(port string) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	check(err)
	for {
		conn, err := listener.Accept()
		check(err)
		go serve(conn)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func handshakes(certificate, key string) {
	const seconds = 3
	const clients = 8
	pair, err := tls.LoadX509KeyPair(certificate, key)
	check(err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: tls.VersionTLS12})
	check(err)
	go func() {
		for {
			conn, err := listener.Accept()
			check(err)
			go func() {
				conn.Write([]byte{1})
				conn.Close()
			}()
		}
	}()
	shake := func() {
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
		check(err)
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			check(err)
		}
		conn.Close()
	}
	shake()
	var done atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for i := 0; i < clients; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Since(begun) < seconds*time.Second {
				shake()
				done.Add(1)
			}
		}()
	}
	all.Wait()
	fmt.Printf("handshakes %.3f\n", float64(done.Load())/time.Since(begun).Seconds())
}

func main() {
	switch os.Args[1] {
	case "raw":
		raw(os.Args[2])
	case "http":
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		check(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
	case "tls":
		handshakes(os.Args[2], os.Args[3])
	}
}
