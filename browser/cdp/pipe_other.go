//go:build !linux || race

package cdp

import "os"

// pipeEnd is an end of a pipe.
type pipeEnd struct{ *os.File }

func newPipeEnd(f *os.File) pipeEnd { return pipeEnd{f} }

// writeAtOnce writes as much of b as the pipe takes without waiting, and returns how many
// bytes that are: none, because only on Linux that is worth it, and the race detector
// takes only ordinary calls for synchronisation.
func (pipeEnd) writeAtOnce([]byte) int { return 0 }
