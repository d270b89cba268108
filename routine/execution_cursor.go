package routine

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// ExecutionCursor is a place in a list of executions, which is ordered by the time of
// creation and the id: that of the last execution of a page.
type ExecutionCursor struct {
	CreatedAt time.Time
	ID        string
}

// CursorOf returns the place of an execution.
func CursorOf(e *Execution) *ExecutionCursor { return &ExecutionCursor{e.CreatedAt, e.ID} }

// String returns the cursor as a text for URLs, which callers must not interpret.
func (c *ExecutionCursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.CreatedAt.UnixMicro(), 10) + " " + c.ID))
}

// ParseExecutionCursor returns the cursor of a text that String has returned. ok is false if
// it is another text.
func ParseExecutionCursor(text string) (c *ExecutionCursor, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	at, id, found := strings.Cut(string(plain), " ")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !found || id == "" {
		return nil, false
	}
	return &ExecutionCursor{time.UnixMicro(micros).UTC(), id}, true
}
