// Command deploylint checks the files of cmd/rote/deploy without a cluster or a Docker
// daemon: it renders the Helm chart, decodes each object strictly into its Kubernetes type,
// holds pods to their limits and rights, and parses the compose file and the Dockerfile. It
// is a module of its own, because rote itself needs none of its dependencies.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: deploylint DIRECTORY")
		os.Exit(2)
	}
	dir := os.Args[1]
	err := errors.Join(checkChart(filepath.Join(dir, "helm")), checkCompose(filepath.Join(dir, "compose.yaml")), checkDockerfile(filepath.Join(dir, "Dockerfile")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// checkCompose checks a compose file against its schema, and the rights of its services.
func checkCompose(file string) error {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnv([]string{
		"ROTE_HOST=rote.example", "POSTGRES_PASSWORD=x", "ROTE_STATE_KEY=x", "ROTE_SERVICE_TOKEN=x"}))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var faults []error
	for name, s := range project.Services {
		if s.Privileged || s.NetworkMode == "host" || len(s.CapAdd) > 0 {
			faults = append(faults, fmt.Errorf("%s: service %s has rights that it does not need", file, name))
		}
		if s.Image == "rote" && (!s.ReadOnly || len(s.CapDrop) != 1 || len(s.SecurityOpt) != 2 || s.MemLimit == 0 || s.PidsLimit == 0 || len(s.Tmpfs) == 0) {
			faults = append(faults, fmt.Errorf("%s: service %s is not confined", file, name))
		}
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == "bind" && err != nil {
				faults = append(faults, fmt.Errorf("%s: service %s: %w", file, name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// checkDockerfile parses a Dockerfile with BuildKit's parser.
func checkDockerfile(file string) error {
	text, err := os.Open(file)
	if err != nil {
		return err
	}
	defer text.Close()
	parsed, err := parser.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	user := ""
	for _, c := range stages[len(stages)-1].Commands {
		if u, ok := c.(*instructions.UserCommand); ok {
			user = u.User
		}
	}
	if user != "10001:10001" {
		return fmt.Errorf("%s: the image runs as %q, and the chart as 10001:10001", file, user)
	}
	return nil
}
