package backups

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// files is a fake database: Backup writes a file and a directory with one more.
type files struct{ fault error }

func (f files) Backup(_ context.Context, path string) error {
	if f.fault != nil {
		return f.fault
	}
	return errors.Join(os.WriteFile(path, []byte("rows"), 0o600), os.MkdirAll(path+".files/ab", 0o700),
		os.WriteFile(path+".files/ab/cd", []byte("blob"), 0o600))
}

// places are the addresses of a directory and of a prefix of a bucket in a store on loopback.
func places(t *testing.T) map[string]string {
	t.Helper()
	store := s3mem.New()
	if err := store.CreateBucket("copies"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "us-east-1")
	return map[string]string{"directory": t.TempDir(), "bucket": "s3://copies", "prefix": "s3://copies/of/rote/"}
}

// Archives are saved, listed, fetched whole and pruned; other files stay.
func TestPlaces(t *testing.T) {
	at := time.Date(2026, 11, 28, 9, 14, 3, 0, time.UTC)
	for kind, address := range places(t) {
		t.Run(kind, func(t *testing.T) {
			p, err := Open(address)
			if err != nil {
				t.Fatal(err)
			}
			if name, _, err := p.Newest(t.Context()); name != "" || err != nil {
				t.Errorf("of an empty place: %q %v", name, err)
			}
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, []byte("not ours"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := p.put(t.Context(), other, "zz-notes.tar.gz"); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if _, err := p.Save(t.Context(), files{}, at.Add(time.Duration(i)*time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			removed, err := p.Prune(t.Context(), 2)
			if diff := cmp.Diff([]string{"rote-20261128T091403Z.tar.gz", "rote-20261128T101403Z.tar.gz"}, removed); diff != "" || err != nil {
				t.Errorf("removed (-want +got) %v:\n%s", err, diff)
			}
			left, err := p.list(t.Context())
			slices.Sort(left)
			if diff := cmp.Diff([]string{"rote-20261128T111403Z.tar.gz", "rote-20261128T121403Z.tar.gz", "zz-notes.tar.gz"}, left); diff != "" || err != nil {
				t.Errorf("left (-want +got) %v:\n%s", err, diff)
			}
			name, newest, err := p.Newest(t.Context())
			if err != nil || !newest.Equal(at.Add(3*time.Hour)) {
				t.Errorf("the newest is of %v: %v", newest, err)
			}
			wantCopy(t, p, name)
			if _, err := p.Fetch(t.Context(), "rote-20261128T091403Z.tar.gz", t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("of a removed archive: %v", err)
			}
			if _, err := p.Fetch(t.Context(), "zz-notes.tar.gz", t.TempDir()); err == nil || !strings.Contains(err.Error(), "not an archive of rote backup") {
				t.Errorf("of another file: %v", err)
			}
		})
	}
}

// wantCopy fails the test unless an archive has what files.Backup has written.
func wantCopy(t *testing.T, p Place, name string) {
	t.Helper()
	database, err := p.Fetch(t.Context(), name, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{database: "rows", database + ".files/ab/cd": "blob"} {
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
}

// A copy that fails leaves nothing behind, and wrong addresses say what an address is.
func TestFaultsOfPlaces(t *testing.T) {
	dir := t.TempDir()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk full")
	if _, err := p.Save(t.Context(), files{broken}, time.Now()); !errors.Is(err, broken) {
		t.Errorf("a copy that fails: %v", err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v %v", left, err)
	}
	for _, address := range []string{"s3://", "s3:///prefix", "s3://b?endpoint=x", "s3://user:pw@b/c"} {
		if _, err := Open(address); err == nil || !strings.Contains(err.Error(), "s3://BUCKET/PREFIX") {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "minio:9000")
	if _, err := Open("s3://b"); err == nil || !strings.Contains(err.Error(), "https://minio.example:9000") {
		t.Errorf("an endpoint without a scheme: %v", err)
	}
}

// An archive that was made to write elsewhere is refused.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	for _, h := range []tar.Header{
		{Name: "../out", Typeflag: tar.TypeReg}, {Name: "/out", Typeflag: tar.TypeReg}, {Name: "a/../../out", Typeflag: tar.TypeReg},
		{Name: "../out", Typeflag: tar.TypeDir}, {Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, {Name: "other", Typeflag: tar.TypeReg},
	} {
		dir := t.TempDir()
		archive := filepath.Join(dir, "archive")
		f, err := os.Create(archive)
		if err != nil {
			t.Fatal(err)
		}
		compressed := gzip.NewWriter(f)
		w := tar.NewWriter(compressed)
		if err := errors.Join(w.WriteHeader(&h), w.Close(), compressed.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(archive, filepath.Join(dir, "in")); err == nil || !strings.Contains(err.Error(), "not an archive of rote backup") {
			t.Errorf("%s: %v", h.Name, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "out")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was written: %v", h.Name, err)
		}
	}
}

// A schedule copies when the newest archive is old enough, also after a restart, and says so
// when it cannot.
func TestSchedule(t *testing.T) {
	t.Parallel()
	p, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	var log strings.Builder
	schedule := func(fault error) *Schedule {
		return &Schedule{Place: p, Database: files{fault}, Every: time.Hour, Keep: 2, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Now: func() time.Time { return now }}
	}
	for _, row := range []struct {
		after, want time.Duration
		fault       error
		archives    int
	}{
		{0, time.Hour, nil, 1},
		{20 * time.Minute, 40 * time.Minute, nil, 1},
		{39 * time.Minute, time.Minute, nil, 1},
		{time.Minute, 10 * time.Minute, errors.New("disk full"), 1},
		{10 * time.Minute, time.Hour, nil, 2},
		{2 * time.Hour, time.Hour, nil, 2},
		{-24 * time.Hour, time.Hour, nil, 2},
	} {
		now = now.Add(row.after)
		if got := schedule(row.fault).step(t.Context()); got != row.want {
			t.Errorf("at %v: the next in %v, want %v", now, got, row.want)
		}
		if all, err := p.archives(t.Context()); len(all) != row.archives || err != nil {
			t.Errorf("at %v: %v %v", now, all, err)
		}
	}
	if !strings.Contains(log.String(), "disk full") || strings.Count(log.String(), "the database was backed up") != 3 {
		t.Errorf("logged\n%s", log.String())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	schedule(nil).Run(ctx) // returns
}
