package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rote/browser/egress"
)

func sender(t *testing.T) webhookSender {
	t.Helper()
	policy, err := egress.NewPolicy(egress.Any, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return webhookSender{policy}
}

// Logged and stored errors of deliveries do not contain the URL.
func TestWebhookErrorsOmitURL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	for _, to := range []string{"http://" + closed + "/hook?key=s3cret", "http://bad%zzhost/s3cret", "gopher://" + closed + "/s3cret"} {
		status, err := sender(t).Send(t.Context(), to, nil, nil, nil)
		if err == nil || strings.Contains(err.Error(), "s3cret") || status != 0 {
			t.Errorf("%s: %d, %v", to, status, err)
		}
	}
}

// A receiver has the webhook once it has said so, whatever becomes of the rest
// of its answer.
func TestWebhookReturnsStatus(t *testing.T) {
	ended := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusAccepted)
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			close(ended)
		}
	}))
	defer receiver.Close()
	for _, path := range []string{"/cut", "/slow"} {
		if status, err := sender(t).Send(t.Context(), receiver.URL+path, nil, nil, []byte("{}")); status != http.StatusAccepted || err != nil {
			t.Errorf("%s: %d, %v", path, status, err)
		}
	}
	<-ended
}
