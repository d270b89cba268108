package rows

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Table is a table that all stores have, with the columns that all of them have.
type Table struct {
	Name    string
	Columns []string
}

// Tables are the tables whose rows make up the content of a store. A table comes after
// those to which its rows refer.
var Tables = []Table{
	{"key_ring", []string{"id", "created_at"}},
	{"removed_keys", []string{"id", "removed_at"}},
	{"routines", []string{"id", "organization_id", "project_id", "created_by", "tool_name", "status", "version", "name", "is_public",
		"is_mcp_tool_designated", "created_at", "updated_at", "words"}},
	{"routine_versions", []string{"routine_id", "version", "status", "definition", "created_at", "created_by"}},
	{"routine_tags", []string{"tag", "id", "organization_id", "status", "is_public", "is_mcp_tool_designated", "created_at"}},
	{"tokens", []string{"id", "hash", "user_id", "organization_id", "project_id", "scopes", "allowed_hosts", "created_at", "expires_at",
		"revoked_at", "last_used_at"}},
	{"sign_ins", []string{"hash", "token_hash", "created_at", "last_used_at"}},
	{"executions", []string{"id", "routine_id", "routine_name", "routine_version", "status", "result", "error", "error_code", "created_at",
		"started_at", "completed_at", "duration_seconds", "parameters", "created_by", "token_id", "via", "operations_done",
		"operations_total", "operations", "evidence", "cancel_requested_at", "size", "organization_id", "owner", "schedule_id"}},
	{"execution_calls", []string{"execution_id", "sealed", "key_id"}},
	{"execution_files", []string{"execution_id", "name", "content_type", "size", "data"}},
	{"idempotency_keys", []string{"organization_id", "user_id", "project_id", "reach", "key", "fingerprint", "made_id", "created_at"}},
	{"webhooks", []string{"id", "execution_id", "organization_id", "host", "url", "allowed_hosts", "attempts", "due_at", "outcome", "notify"}},
	{"webhook_secrets", []string{"organization_id", "secret"}},
	{"schedules", slices.Concat(ScheduleIdentity, ScheduleSettings,
		[]string{"sealed", "revision", "last_at", "last_execution_id", "last_skip", "data_hash", "data_execution_id", "data_changed", "key_id"})},
	{"project_states", []string{"organization_id", "project_id", "sealed", "saved_at", "key_id"}},
	{"data_keys", []string{"id", "organization_id", "wrapped", "state_key_id", "created_at", "retired_at"}},
	{"secrets", SecretColumns},
	{"secret_fields", []string{"organization_id", "project_id", "name", "field", "is_totp", "sealed", "key_id", "reference", "last_step"}},
	{"secret_codes", []string{"id", "organization_id", "project_id", "name", "expires_at", "sealed", "key_id"}},
	{"secret_uses", SecretUseColumns},
	{"sessions", slices.Concat(SessionColumns, []string{"sealed", "key_id"})},
}

// Reader returns the rows of a table in any order. Values are nil, int64, float64, string
// or []byte. A row is valid until the next one. It ends after an error.
type Reader func(t Table) iter.Seq2[[]any, error]

// Checksum sums up rows, regardless of their order.
type Checksum struct {
	Rows int
	sum  [4]uint64
}

// Add adds a row. Its values are nil, bool, int64, float64, string or []byte; a text and
// its bytes are the same.
func (c *Checksum) Add(values []any) error {
	h := sha256.New()
	write := func(kind byte, content []byte) {
		h.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(content))))
		h.Write(content)
	}
	number := func(kind byte, n uint64) { write(kind, binary.BigEndian.AppendUint64(nil, n)) }
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			write('n', nil)
		case bool:
			write('b', fmt.Append(nil, v))
		case int64:
			number('i', uint64(v))
		case float64:
			number('f', math.Float64bits(v))
		case string:
			write('t', []byte(v))
		case []byte:
			write('t', v)
		default:
			return fmt.Errorf("a value of type %T cannot be summed up", v)
		}
	}
	c.Rows++
	hash := h.Sum(nil)
	for i := range c.sum {
		c.sum[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
	return nil
}
