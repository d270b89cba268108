// Command mcpb packs a program of rote and mcp/manifest.json as a bundle for Claude Desktop. The
// same program and time give the same bytes, unlike with the tool from npm, which .ci/npm
// reads the bundle with.
package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

func main() {
	binary := flag.String("binary", "", "the program")
	system := flag.String("os", "", "its operating system, as in GOOS: linux or darwin")
	version := flag.String("version", "", "its version, as in 1.2.3")
	seconds := flag.Int64("time", 0, "the time of its commit, in Unix seconds")
	out := flag.String("o", "", "the bundle")
	flag.Parse()
	if err := pack(*binary, *system, *version, time.Unix(*seconds, 0).UTC(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "mcpb:", err)
		os.Exit(1)
	}
}

func pack(binary, system, version string, made time.Time, out string) (err error) {
	if binary == "" || system == "" || version == "" || out == "" {
		return errors.New("-binary, -os, -version and -o are needed")
	}
	manifest, err := manifestOf(system, version)
	if err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	bundle := zip.NewWriter(file)
	add := func(name string, mode fs.FileMode, write func(io.Writer) error) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: made}
		header.SetMode(mode)
		w, err := bundle.CreateHeader(header)
		if err != nil {
			return err
		}
		return write(w)
	}
	copyFile := func(path string) func(io.Writer) error {
		return func(w io.Writer) error {
			from, err := os.Open(path)
			if err != nil {
				return err
			}
			defer from.Close()
			_, err = io.Copy(w, from)
			return err
		}
	}
	writeManifest := func(w io.Writer) error {
		_, err := w.Write(manifest)
		return err
	}
	return errors.Join(add("manifest.json", 0o644, writeManifest), add("rote", 0o755, copyFile(binary)),
		add("notices.txt", 0o644, copyFile("cmd/rote/notices.txt")), bundle.Close())
}

// manifestOf returns mcp/manifest.json for one operating system and version.
func manifestOf(system, version string) ([]byte, error) {
	text, err := os.ReadFile("mcp/manifest.json")
	if err != nil {
		return nil, err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	manifest["version"] = version
	manifest["compatibility"] = map[string]any{"platforms": []string{system}}
	return json.MarshalIndent(manifest, "", "  ")
}
