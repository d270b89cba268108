package egress

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A connection that says nothing, or says it too slowly, does not keep its place. Each try has
// the whole time.
func TestGatewayClosesSlowConnections(t *testing.T) {
	for _, row := range []struct {
		name, text string
		tries      int
		// closed is how long the connection stays open after the text, which is sent a second
		// before the first timeout.
		closed time.Duration
	}{
		{"nothing", "", 0, time.Second},
		{"a part of a request", "CONNECT shop.example:443 HT", 0, headerTimeout},
		{"nothing after a request without credentials", "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n", 1, identifyTimeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				browser, conn := net.Pipe()
				defer browser.Close()
				g := &Gateway{}
				go g.serve(conn)
				time.Sleep(identifyTimeout - time.Second)
				if _, err := io.WriteString(browser, row.text); err != nil {
					t.Fatal(err)
				}
				r := bufio.NewReader(browser)
				for range row.tries {
					if a, err := http.ReadResponse(r, nil); err != nil || a.StatusCode != http.StatusProxyAuthRequired {
						t.Fatalf("%v, %v", a, err)
					}
				}
				began := time.Now()
				if _, err := io.Copy(io.Discard, r); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != row.closed {
					t.Errorf("closed after %v, want %v", took, row.closed)
				}
			})
		})
	}
}
