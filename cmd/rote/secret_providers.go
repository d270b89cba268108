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
	OpConnectHost  string   `help:"1Password Connect server whose values secrets may refer to as op://VAULT/ITEM/FIELD." placeholder:"URL"`
	OpTokenFile    string   `help:"File with the token for 1Password Connect; it may be replaced at any time." placeholder:"FILE"`
	OpVault        string   `help:"The only VAULT that secrets may refer to." default:"{organization}"`
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
	vault, err := f.vault()
	if err != nil {
		return nil, err
	}
	connect, err := f.onePassword()
	if err != nil {
		return nil, err
	}
	for _, p := range []routine.SecretProvider{vault, connect} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// vault returns the provider of --vault-addr; nil without it.
func (f *secretProviderFlags) vault() (routine.SecretProvider, error) {
	if f.VaultAddr != "" {
		return provider.NewVault(provider.VaultConfig{Address: f.VaultAddr, Mount: f.VaultMount, Prefix: f.VaultPrefix,
			Namespace: f.VaultNamespace, TokenFile: f.VaultTokenFile, Role: f.VaultRole})
	}
	if f.VaultTokenFile != "" || f.VaultRole != "" {
		return nil, errors.New("--vault-token-file and --vault-role need --vault-addr")
	}
	return nil, nil
}

// onePassword returns the provider of --op-connect-host; nil without it.
func (f *secretProviderFlags) onePassword() (routine.SecretProvider, error) {
	if f.OpConnectHost != "" {
		return provider.NewOnePassword(provider.OnePasswordConfig{Host: f.OpConnectHost, TokenFile: f.OpTokenFile, Vault: f.OpVault})
	}
	if f.OpTokenFile != "" {
		return nil, errors.New("--op-token-file needs --op-connect-host")
	}
	return nil, nil
}
