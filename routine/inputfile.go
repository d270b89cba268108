package routine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Limits of the files that one call hands in. What a call may hold in base64 stays
// under the default limit of a request's body.
const (
	// MaxInputFiles bounds the files of one parameter.
	MaxInputFiles = 10
	// MaxInputFileBytes bounds the content of all files of a call together.
	MaxInputFileBytes = 5 << 19 // 2.5 MiB
)

// InputFile is a file that a call hands in, as a value of a parameter of type
// x-files has it. Its JSON, which the ledger keeps, describes it without the content.
type InputFile struct {
	Name string
	// Type is the media type, as in "application/pdf".
	Type string
	Data []byte
}

// MarshalJSON gives name, type, size in bytes and SHA-256 of the file.
func (f InputFile) MarshalJSON() ([]byte, error) {
	sum := sha256.Sum256(f.Data)
	return json.Marshal(struct {
		Name   string `json:"name"`
		Type   string `json:"type"`
		Size   int    `json:"size"`
		SHA256 string `json:"sha256"`
	}{f.Name, f.Type, len(f.Data), hex.EncodeToString(sum[:])})
}

func (f InputFile) String() string {
	return fmt.Sprintf("%s (%s, %d bytes)", f.Name, f.Type, len(f.Data))
}
