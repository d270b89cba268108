package rows

import (
	"encoding/json"
	"fmt"
	"strings"

	"rote/routine"
)

// ScanToken reads a row with id, hash, user_id, organization_id, project_id, scopes,
// allowed_hosts, created_at, expires_at, revoked_at, last_used_at.
func ScanToken(scan Scan) (*routine.Token, error) {
	var (
		t                      routine.Token
		hash, hosts            []byte
		scopes                 string
		created                int64
		expires, revoked, used *int64
	)
	err := scan(&t.ID, &hash, &t.UserID, &t.OrganizationID, &t.ProjectID, &scopes, &hosts, &created, &expires, &revoked, &used)
	if err != nil {
		return nil, err
	}
	if t.Scopes, err = routine.ParseScopes(strings.Fields(scopes)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(hosts, &t.AllowedHosts); err != nil {
		return nil, fmt.Errorf("decode allowed hosts of token %s: %w", t.ID, err)
	}
	copy(t.Hash[:], hash)
	t.CreatedAt = fromMicros(created)
	t.ExpiresAt, t.RevokedAt, t.LastUsedAt = fromNullMicros(expires), fromNullMicros(revoked), fromNullMicros(used)
	return &t, nil
}
