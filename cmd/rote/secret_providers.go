package main

import (
	"fmt"

	"rote/routine"
	"rote/routine/provider"
)

// secretProviderFlags say where values of secrets may be read from, besides the database.
type secretProviderFlags struct {
	SecretEnv []string `help:"Environment variable that secrets may refer to as env:NAME. Repeatable." placeholder:"NAME"`
	SecretDir string   `help:"Directory of mounted files that secrets may refer to as file:NAME." placeholder:"DIR"`
}

// providers returns the providers that flags configure.
func (f *secretProviderFlags) providers() ([]routine.SecretProvider, error) {
	var all []routine.SecretProvider
	if len(f.SecretEnv) > 0 {
		all = append(all, provider.Environment{Names: f.SecretEnv})
	}
	if f.SecretDir != "" {
		files, err := provider.NewFiles(f.SecretDir)
		if err != nil {
			return nil, fmt.Errorf("--secret-dir: %w", err)
		}
		all = append(all, files)
	}
	return all, nil
}
