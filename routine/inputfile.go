package routine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Limits of the files in one call. Encoded as base64 they stay
// below the default size limit of a request body.
const (
	// MaxInputFiles bounds the number of files of one parameter.
	MaxInputFiles = 10
	// MaxInputFileBytes bounds the size of all files of a call together.
	MaxInputFileBytes = 5 << 19 // 2.5 MiB
)

// InputFile is a file in a value of a parameter of type x-files. Its JSON, which is
// stored with the execution, describes the file without its content.
type InputFile struct {
	Name string
	// Type is the media type, as in "application/pdf".
	Type string
	Data []byte
}

// MarshalJSON returns the name, media type, size in bytes and SHA-256 of the file.
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
