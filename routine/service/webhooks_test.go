package service_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// receiver is a Sender that keeps what is sent, and answers with one status
// after another, the last for ever.
type receiver struct {
	mu       sync.Mutex
	statuses []int
	refuse   error
	hang     bool
	got      []delivery
}

type delivery struct {
	at      time.Time
	url     string
	hosts   []string
	headers map[string]string
	body    string
}

func (r *receiver) Allows(_ context.Context, url string, hosts []string) error {
	if strings.Contains(url, "forbidden") || len(hosts) > 0 && hosts[0] == "nowhere" {
		return routine.Errorf(routine.CodeEgressDenied, "the egress policy refuses %s", url)
	}
	return nil
}

func (r *receiver) Send(ctx context.Context, url string, hosts []string, headers map[string]string, body []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, delivery{time.Now(), url, hosts, headers, string(body)})
	if r.hang {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	if r.refuse != nil {
		return 0, r.refuse
	}
	status := r.statuses[0]
	if len(r.statuses) > 1 {
		r.statuses = r.statuses[1:]
	}
	return status, nil
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

// maintained gives a service with a receiver, and what ends it as the end of its
// process would.
func maintained(store routine.Store, r *receiver, edits ...func(*service.Config)) (*service.Service, func()) {
	c := service.Config{Store: store, Browser: &routinetest.Browser{}, Sender: r}
	for _, edit := range edits {
		edit(&c)
	}
	s := service.New(c)
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Maintain(ctx) })
	return s, func() { s.Close(ctx); stop(); done.Wait() }
}

const hook = "https://receiver.example/hook?a=b"

// called runs a routine with a callback to its end.
func called(t *testing.T, s *service.Service) *routine.Execution {
	t.Helper()
	p := ann
	p.AllowedHosts = []string{"receiver.example"}
	e, err := s.Start(t.Context(), p, create(t, s, ann, private).ID, service.Call{CallbackURL: hook})
	if err != nil {
		t.Fatal(err)
	}
	if e, err = s.Wait(t.Context(), p, e.ID); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{statuses: []int{204}}
		s, stop := maintained(routinetest.NewStore(), r)
		defer stop()
		e := called(t, s)
		time.Sleep(time.Hour) // of the test's own clock
		got := r.deliveries()
		if len(got) != 1 || got[0].url != hook || len(got[0].hosts) != 1 || got[0].headers["Content-Type"] != "application/json" {
			t.Fatalf("sent: %+v", got)
		}
		var body struct {
			Type      string
			Timestamp time.Time
			Data      map[string]any
		}
		if err := json.Unmarshal([]byte(got[0].body), &body); err != nil || body.Type != "execution.completed" || !body.Timestamp.Equal(got[0].at) ||
			body.Data["execution_id"] != e.ID || body.Data["status"] != "completed" || body.Data["result"] != nil {
			t.Errorf("%v in %s", err, got[0].body)
		}
		admin := ann
		admin.Scopes = routine.ScopeAdmin
		secret, err := s.WebhookSecret(t.Context(), admin)
		if err != nil {
			t.Fatal(err)
		}
		checkSignature(t, secret, got[0])
		if _, err := s.WebhookSecret(t.Context(), ann); routine.CodeOf(err) != routine.CodeForbidden {
			t.Error("without the scope: ", err)
		}
	})
}

// checkSignature verifies a delivery as https://www.standardwebhooks.com
// describes for receivers.
func checkSignature(t *testing.T, secret string, d delivery) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") || len(key) != 32 {
		t.Fatalf("secret %s: %v", secret, err)
	}
	id, timestamp := d.headers["webhook-id"], d.headers["webhook-timestamp"]
	if id == "" || timestamp != fmt.Sprint(d.at.Unix()) {
		t.Errorf("id %q, timestamp %q", id, timestamp)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "." + d.body))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); d.headers["webhook-signature"] != want {
		t.Errorf("signature %s, want %s", d.headers["webhook-signature"], want)
	}
}

func TestWebhookRetries(t *testing.T) {
	for _, row := range []struct {
		name     string
		receiver *receiver
		attempts int
		span     time.Duration // from the first to the last, more or less
	}{
		{"until it is taken", &receiver{statuses: []int{500, 302, 429, 200}}, 4, 2*time.Minute + 35*time.Second},
		{"until it is given up", &receiver{statuses: []int{503}}, 9, 23*time.Hour + 42*time.Minute},
		{"when nobody answers", &receiver{refuse: errors.New("connection refused")}, 9, 23*time.Hour + 42*time.Minute},
		{"when the answer does not come", &receiver{hang: true}, 9, 23*time.Hour + 44*time.Minute},
		{"not when the receiver is gone", &receiver{statuses: []int{410}}, 1, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := maintained(routinetest.NewStore(), row.receiver)
				defer stop()
				called(t, s)
				time.Sleep(25 * time.Hour) // of the test's own clock
				got := row.receiver.deliveries()
				if len(got) != row.attempts {
					t.Fatalf("%d attempts, want %d", len(got), row.attempts)
				}
				if span := got[len(got)-1].at.Sub(got[0].at); span < row.span-time.Minute || span > row.span+time.Minute {
					t.Errorf("over %v, want %v", span, row.span)
				}
				for _, d := range got {
					if d.headers["webhook-id"] != got[0].headers["webhook-id"] {
						t.Error("a repeated webhook has another id")
					}
				}
			})
		})
	}
}

// A process that ends in the middle of an attempt leaves the webhook to the
// next one.
// unreadable is a store in which executions that have ended cannot be read.
type unreadable struct {
	*routinetest.Store
	reads atomic.Int64
	ended atomic.Bool
}

func (u *unreadable) Execution(ctx context.Context, id string) (*routine.Execution, error) {
	if u.ended.Load() {
		u.reads.Add(1)
		return nil, errors.New("broken row")
	}
	return u.Store.Execution(ctx, id)
}

// The webhook of an execution that cannot be read is given up, and then the
// execution can be deleted.
func TestWebhookOfAnUnreadableExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, r := &unreadable{Store: routinetest.NewStore()}, &receiver{statuses: []int{500}}
		s, stop := maintained(store, r)
		defer stop()
		called(t, s)
		time.Sleep(2 * time.Second)
		store.ended.Store(true)
		time.Sleep(30 * time.Hour)
		if n := store.reads.Load(); n != 8 || len(r.deliveries()) != 1 {
			t.Errorf("read %d times, sent %d times", n, len(r.deliveries()))
		}
		if n, err := store.Prune(t.Context(), routine.Retention{Age: 1}, time.Now()); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestWebhookSurvivesItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		deaf := &receiver{hang: true}
		s, stop := maintained(store, deaf)
		called(t, s)
		time.Sleep(2 * time.Second) // of the test's own clock
		stop()
		if len(deaf.deliveries()) != 1 {
			t.Fatalf("%d attempts of the first process", len(deaf.deliveries()))
		}
		next := &receiver{statuses: []int{200}}
		_, stop = maintained(store, next)
		defer stop()
		time.Sleep(time.Minute)
		if got := next.deliveries(); len(got) != 1 || got[0].headers["webhook-id"] != deaf.deliveries()[0].headers["webhook-id"] {
			t.Errorf("the next process sent %+v", got)
		}
	})
}

func TestCallbackURLIsJudged(t *testing.T) {
	b := &routinetest.Browser{}
	with := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Sender: &receiver{}})
	without := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	narrow := ann
	narrow.AllowedHosts = []string{"nowhere"}
	for _, row := range []struct {
		name, url string
		service   *service.Service
		caller    routine.Principal
		words     string
	}{
		{"nobody sends", hook, without, ann, "sends no webhooks"},
		{"refused", "https://forbidden.example/", with, ann, "egress policy"},
		{"outside of the caller's hosts", hook, with, narrow, "egress policy"},
		{"no URL", "https://[", with, ann, "absolute http or https URL"},
		{"relative", "/hook", with, ann, "absolute http or https URL"},
		{"another scheme", "file:///etc/passwd", with, ann, "absolute http or https URL"},
		{"credentials", "https://a:b@receiver.example/", with, ann, "credentials"},
		{"too long", "https://receiver.example/" + strings.Repeat("a", 2048), with, ann, "2048"},
	} {
		_, err := row.service.Start(t.Context(), row.caller, create(t, row.service, ann, private).ID, service.Call{CallbackURL: row.url})
		if e := routine.AsError(err); e == nil || e.Code != routine.CodeInvalid || e.Problems[0].Pointer != "/callback_url" || !strings.Contains(e.Message, row.words) {
			t.Errorf("%s: %v, want %q", row.name, err, row.words)
		}
	}
	if b.Opened() != 0 {
		t.Error("one ran")
	}
}

func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Retention: routine.Retention{Age: 24 * time.Hour}})
		ctx, stop := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { s.Maintain(ctx) })
		defer func() { s.Close(ctx); stop(); done.Wait() }()
		r := create(t, s, ann, private)
		for range 3 {
			if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Hour) // of the test's own clock
		}
		if _, total, err := s.Executions(t.Context(), ann, routine.ExecutionFilter{}); err != nil || total != 2 {
			t.Errorf("%d are kept, %v", total, err)
		}
	})
}

// prunings is a store that counts the calls of Prune by retention.
type prunings struct {
	*routinetest.Store
	mu    sync.Mutex
	calls map[routine.Retention]int
}

func (p *prunings) Prune(ctx context.Context, r routine.Retention, now time.Time) (int, error) {
	p.mu.Lock()
	p.calls[r]++
	p.mu.Unlock()
	return p.Store.Prune(ctx, r, now)
}

// A process that keeps all executions does not prevent others from deleting theirs, and
// removes what nobody needs.
func TestRetentionOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &prunings{Store: routinetest.NewStore(), calls: map[routine.Retention]int{}}
		_, stopFirst := maintained(store, &receiver{})
		defer stopFirst()
		time.Sleep(time.Minute) // of the test's own clock
		day := routine.Retention{Age: 24 * time.Hour}
		_, stopSecond := maintained(store, &receiver{}, func(c *service.Config) { c.Retention = day })
		defer stopSecond()
		time.Sleep(time.Minute)
		store.mu.Lock()
		defer store.mu.Unlock()
		want := map[routine.Retention]int{{}: 1, day: 1}
		if !maps.Equal(store.calls, want) {
			t.Errorf("pruned %v, want %v", store.calls, want)
		}
	})
}
