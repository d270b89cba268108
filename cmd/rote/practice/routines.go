package practice

import (
	"embed"
	"fmt"
)

//go:embed routines
var routineFiles embed.FS

// Address is where the example routines expect the site by default.
const Address = "127.0.0.1:8765"

// Routine is an example routine for the site.
type Routine struct {
	// Name is the name of the file, for example "search_products.json".
	Name string
	JSON []byte
}

// Routines returns the examples, sorted by name.
func Routines() []Routine {
	entries, err := routineFiles.ReadDir("routines")
	if err != nil {
		panic(fmt.Sprintf("embedded example routines: %v", err))
	}
	examples := make([]Routine, 0, len(entries))
	for _, entry := range entries {
		text, err := routineFiles.ReadFile("routines/" + entry.Name())
		if err != nil {
			panic(fmt.Sprintf("embedded example routines: %v", err))
		}
		examples = append(examples, Routine{Name: entry.Name(), JSON: text})
	}
	return examples
}
