package main

import (
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/provider"
)

// secretProviderFlags say where values of secrets may be read from, besides the database.
type secretProviderFlags struct {
	SecretEnv      []string `help:"Environment variable that secrets may refer to as env:NAME. Repeatable." placeholder:"NAME"`
	SecretDir      string   `help:"Directory of mounted files that secrets may refer to as file:NAME." placeholder:"DIR"`
	VaultAddr      string   `help:"Vault or OpenBao server whose values secrets may refer to as vault:PATH#FIELD." placeholder:"URL"`
	VaultMount     string   `help:"Path of the KV engine, version 2." default:"secret"`
	VaultPrefix    string   `help:"What is put before each PATH." default:"rote/{organization}/{project}"`
	VaultTokenFile string   `help:"File with the token for Vault; it may be replaced at any time." placeholder:"FILE"`
	VaultRole      string   `help:"Log in to Vault with this role and the pod's Kubernetes service account." placeholder:"ROLE"`
	VaultNamespace string   `help:"Namespace of Vault." placeholder:"NAME"`
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
	if f.VaultAddr != "" {
		vault, err := provider.NewVault(provider.VaultConfig{Address: f.VaultAddr, Mount: f.VaultMount, Prefix: f.VaultPrefix,
			Namespace: f.VaultNamespace, TokenFile: f.VaultTokenFile, Role: f.VaultRole})
		if err != nil {
			return nil, err
		}
		all = append(all, vault)
	} else if f.VaultTokenFile != "" || f.VaultRole != "" {
		return nil, errors.New("--vault-token-file and --vault-role need --vault-addr")
	}
	return all, nil
}
