//go:build !unix

package chromium

// This identifier is not declared, so that a build for an unsupported system fails
// with a message. Chromium is driven through inherited file descriptors, which
// Windows does not have.
var _ = rote_runs_on_Linux_and_macOS___on_Windows_use_WSL_2
