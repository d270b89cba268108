package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/seeded"
)

// photo is an image of 800 by 600 pixels with as much detail as a photo has.
func photo(t *testing.T) []byte {
	t.Helper()
	random := seeded.Rand(t)
	m := image.NewRGBA(image.Rect(0, 0, 800, 600))
	for y := range 600 {
		for x := range 800 {
			m.Set(x, y, color.RGBA{uint8(x / 4), uint8(y / 3), uint8(x*y/2000 + random.IntN(24)), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// groupTime is the processor time that the processes of a group have taken, with those of
// their children that have ended.
func groupTime(t *testing.T, group int) time.Duration {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	ticks := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the process has ended
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the third on
		if fields[2] != strconv.Itoa(group) {
			continue
		}
		for _, field := range fields[11:15] {
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// settledTime is groupTime once the processes have nothing left to do, such as to dispose of
// the page before and to make the next one ready.
func settledTime(t *testing.T, group int) time.Duration {
	t.Helper()
	every := time.NewTicker(60 * time.Millisecond)
	defer every.Stop()
	for before := groupTime(t, group); ; {
		select {
		case <-every.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
		now := groupTime(t, group)
		if now == before {
			return now
		}
		before = now
	}
}

// A page of results with 40 images that is opened, clicked and read takes at least 30 % less
// time or processor time without them, on both browsers.
func TestSpeedOfBlocking(t *testing.T) {
	optional.Speed(t)
	jpg := photo(t)
	html := "<button id=b>Next</button><br>"
	for i := range 40 {
		html += fmt.Sprintf(`<a href="/lamp/%d"><img src="/photo/%d" width=140 height=105 alt="Lamp %d"></a> `, i, i, i)
	}
	url := site(t, map[string]any{"/": html, "/photo/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/jpeg")
		_, _ = w.Write(jpg)
	}})
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := kind.browser()
			var took, worked [2][]time.Duration // with all resources, without images
			for round := range 17 {
				for i, o := range []routine.PageOptions{{}, {Block: []string{"image"}}} {
					p := mustOpenWith(t, b, o)
					before := settledTime(t, pidOf(p))
					start := time.Now()
					if _, err := p.Navigate(testContext(t), url); err != nil {
						t.Fatal(err)
					}
					if _, err := p.Click(testContext(t), click("#b")); err != nil {
						t.Fatal(err)
					}
					if _, err := p.HTML(testContext(t), ""); err != nil {
						t.Fatal(err)
					}
					if round >= 2 {
						took[i] = append(took[i], time.Since(start))
						worked[i] = append(worked[i], groupTime(t, pidOf(p))-before)
					}
					p.Close()
				}
			}
			saved := 0.0
			for what, all := range map[string][2][]time.Duration{"time": took, "processor time": worked} {
				with, without := middle(all[0]), middle(all[1])
				t.Logf("%s: %v with all resources, %v without images", what, with, without)
				saved = max(saved, 1-float64(without)/float64(with))
			}
			if saved < 0.3 {
				t.Errorf("%.0f %% are saved, want 30 %%", 100*saved)
			}
		})
	}
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
