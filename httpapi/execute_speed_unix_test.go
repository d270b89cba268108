//go:build unix && !race

package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkExecute measures what a run costs besides its page: several callers execute a
// routine on pages that answer at once, over a real database.
func BenchmarkExecute(b *testing.B) {
	for _, n := range []int{1, callers} {
		b.Run(fmt.Sprintf("%d callers", n), func(b *testing.B) {
			e := newEnv(b, func(c *envConfig) {
				c.service.Store, c.service.Queue = c.service.Store.(*watchedStore).Store, 2*callers
			})
			url, client := e.URL+e.names.Replace("/routines/$private/execute"), &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
			defer client.CloseIdleConnections()
			var left atomic.Int64
			left.Store(int64(b.N))
			began, cpu := time.Now(), spent(b)
			b.ResetTimer()
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if err := execute(b, client, url); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64((spent(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "runs/s")
		})
	}
}

// execute runs the routine that reads a page, without a look at the result.
func execute(t testing.TB, client *http.Client, url string) error {
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"parameters":{"page":"https://a.test/"}}`))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Service-Token", adminToken)
	got, err := client.Do(q)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(got.Body)
		return fmt.Errorf("%s: %s", got.Status, text)
	}
	_, err = io.Copy(io.Discard, got.Body)
	return err
}
