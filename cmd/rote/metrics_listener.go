package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"rote/httpapi"
)

// metricsListener serves the metrics on a separate listener (--metrics-addr).
// The zero value serves nothing.
type metricsListener struct {
	listener net.Listener
	server   *http.Server
	ended    chan struct{}
}

// listenForMetrics starts the listener, or does nothing if addr is empty. It
// logs a warning if the address is not on loopback, because no token is needed.
func listenForMetrics(addr string, allowedHosts []string, m *httpapi.Metrics, log *slog.Logger) (*metricsListener, error) {
	if addr == "" {
		return &metricsListener{}, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w (choose another address with --metrics-addr)", err)
	}
	if !listensOnLoopback(l) {
		allowedHosts = []string{"*"} // scrapers may use any name or address
		log.Warn("everybody who reaches --metrics-addr can read the metrics without a token: listen on 127.0.0.1, or let only your Prometheus through",
			"address", l.Addr().String())
	}
	s := &metricsListener{l, httpapi.NewServer(l.Addr().String(), httpapi.NewMetricsHandler(m, allowedHosts)), make(chan struct{})}
	log.Info("serving metrics", "url", "http://"+l.Addr().String()+"/metrics")
	go func() {
		defer close(s.ended)
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", "error", err)
		}
	}()
	return s, nil
}

// Close stops the listener and waits for it.
func (s *metricsListener) Close() error {
	if s.server == nil {
		return nil
	}
	err := s.server.Close()
	<-s.ended
	return err
}
