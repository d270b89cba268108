package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"

	"rote/routine"
	"rote/routine/rows"
)

// maxTagsPerStatement is below SQLite's limit of values in one statement.
const maxTagsPerStatement = 10_000

// saveTags replaces a routine's tags by those of d. The routine's row must have
// been saved before.
func saveTags(ctx context.Context, tx *sql.Tx, id string, d *routine.Definition) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM routine_tags WHERE id = ?`, id); err != nil {
		return fmt.Errorf("save tags: %w", err)
	}
	for tags := range slices.Chunk(d.Tags, maxTagsPerStatement) {
		args := make([]any, 0, len(tags)+1)
		for _, tag := range tags {
			args = append(args, tag)
		}
		_, err := tx.ExecContext(ctx, `
			WITH tags (tag) AS (VALUES (?)`+strings.Repeat(`, (?)`, len(tags)-1)+`)
			INSERT OR IGNORE INTO routine_tags (tag, id, organization_id, status, is_public, is_mcp_tool_designated, created_at)
			SELECT tag, id, organization_id, status, is_public, is_mcp_tool_designated, created_at FROM routines, tags WHERE id = ?`, append(args, id)...)
		if err != nil {
			return fmt.Errorf("save tags: %w", err)
		}
	}
	return nil
}

// Routines lists the matches of f, newest first. Creation times have a
// resolution of one second. Within a second, the larger id comes first: ids are
// UUIDs of version 7, which increase with time.
func (s *Store) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	// One transaction, so that page and total are of the same moment.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	defer func() { _ = tx.Rollback() }()

	query, args := routinePageQuery(f)
	found, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	defer found.Close()
	list := []*routine.Routine{}
	var incomplete []int // indexes in list
	for found.Next() {
		r, complete, err := rows.ScanRoutine(found.Scan)
		if err != nil {
			return nil, 0, fmt.Errorf("list routines: %w", err)
		}
		if !complete {
			incomplete = append(incomplete, len(list))
		}
		list = append(list, r)
	}
	if err := found.Err(); err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	_ = found.Close() // found.Err has reported any error
	for _, i := range incomplete {
		if list[i], _, err = rows.ScanRoutine(tx.QueryRowContext(ctx, selectRoutine(`definition`, `0`)+`WHERE id = ?`, list[i].ID).Scan); err != nil {
			return nil, 0, fmt.Errorf("list routines: %w", err)
		}
		list[i].OmitDetails()
	}
	// On the last page the total is known without a count.
	if n := len(list); (f.Limit <= 0 || n < f.Limit) && (n > 0 || f.Offset == 0) {
		return list, min(f.Offset+n, routine.MaxTotal+1), nil
	}
	var total int
	matches, args := routineMatchQuery(f)
	if err := tx.QueryRowContext(ctx, countQuery(matches, routine.MaxTotal), args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count routines: %w", err)
	}
	return list, total, nil
}

// countQuery returns a query for the number of rows of another one, at most limit+1.
func countQuery(query string, limit int) string {
	return fmt.Sprintf(`SELECT count(*) FROM (%s LIMIT %d)`, query, limit+1)
}

// routinePageQuery returns a query that chooses the page using indexes only,
// and reads only the rows of that page.
func routinePageQuery(f routine.RoutineFilter) (query string, args []any) {
	matches, args := routineMatchQuery(f)
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	definition, partial := `definition`, `0`
	switch {
	case f.WithoutDefinitions:
		definition = `NULL`
	case f.MaxDefinition > 0:
		partial = fmt.Sprintf(`octet_length(definition) > %d`, f.MaxDefinition)
		definition = fmt.Sprintf(`CASE WHEN %s THEN substr(CAST(definition AS BLOB), 1, %d) ELSE definition END`, partial, rows.MaxHeaderBytes)
	}
	query = `WITH page AS (` + matches + ` ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?)` +
		selectRoutine(definition, partial) + `JOIN page USING (id) ORDER BY page.created_at DESC, id DESC`
	return query, append(args, limit, f.Offset)
}

// routineMatchQuery returns a query for id and created_at of all matches. "Own
// or public" is a union of two disjoint queries instead of an OR, because each
// can then be read from its index in the order of the list. The conditions must
// be written as in the partial indexes, otherwise SQLite does not use these.
func routineMatchQuery(f routine.RoutineFilter) (query string, args []any) {
	ours, oursArgs := routineSubsetQuery(f, `organization_id = ?`, f.OrganizationID)
	public, publicArgs := routineSubsetQuery(f, `is_public = 1`)
	switch {
	case f.OrganizationID == "":
		return public, publicArgs
	case !f.Public:
		return ours, oursArgs
	}
	return ours + ` UNION ALL ` + public + ` AND organization_id <> ?`, append(append(oursArgs, publicArgs...), f.OrganizationID)
}

// routineSubsetQuery returns a query for the matches of f that also meet
// condition. The table of tags has the same columns as routines, except words,
// name and tool_name.
func routineSubsetQuery(f routine.RoutineFilter, condition string, value ...any) (query string, args []any) {
	var b strings.Builder
	words, name, toolName := `words`, `name`, `tool_name`
	if f.Tag == "" {
		b.WriteString(`SELECT id, created_at FROM routines WHERE ` + condition)
	} else {
		b.WriteString(`SELECT id, created_at FROM routine_tags t WHERE tag = ? AND ` + condition)
		args = append(args, f.Tag)
		column := func(name string) string { return `(SELECT ` + name + ` FROM routines WHERE routines.id = t.id)` }
		words, name, toolName = column(words), column(name), column(toolName)
	}
	args = append(args, value...)
	add := func(condition string, values ...any) {
		b.WriteString(` AND ` + condition)
		args = append(args, values...)
	}
	switch {
	case f.Published:
		add(`status = 'active' AND is_mcp_tool_designated = 1`)
	case f.Unpublished:
		add(`(status <> 'active' OR is_mcp_tool_designated = 0)`)
	default:
		statuses := rows.ListedStatuses(f)
		marks := strings.TrimSuffix(strings.Repeat(`?, `, len(statuses)), `, `)
		add(`status IN (` + marks + `)`)
		for _, status := range statuses {
			args = append(args, status)
		}
	}
	if f.Designated != nil {
		add(`is_mcp_tool_designated = ?`, *f.Designated)
	}
	if f.IsPublic != nil {
		add(`is_public = ?`, *f.IsPublic)
	}
	if f.ToolName != "" {
		add(toolName+` = ?`, f.ToolName)
	}
	if f.Name != "" {
		add(name+` = ?`, f.Name)
	}
	for _, word := range f.Words {
		add(`instr(`+words+`, ?) > 0`, strings.ToLower(word))
	}
	return b.String(), args
}

// fillListColumns fills the columns and tags that lists search, for routines
// saved before they existed.
var fillListColumns = goose.NewGoMigration(5, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
	found, err := tx.QueryContext(ctx, `
		SELECT id, definition FROM routines JOIN routine_versions v ON v.routine_id = id AND v.version = routines.version`)
	if err != nil {
		return err
	}
	defer found.Close()
	definitions := map[string]routine.Definition{}
	for found.Next() {
		var id string
		var definition []byte
		if err := found.Scan(&id, &definition); err != nil {
			return err
		}
		if definitions[id], err = routine.DecodeDefinition(definition); err != nil {
			return err
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	for id, d := range definitions {
		if _, err := tx.ExecContext(ctx, `UPDATE routines SET words = ? WHERE id = ?`, d.SearchText(), id); err != nil {
			return err
		}
		if err := saveTags(ctx, tx, id, &d); err != nil {
			return err
		}
	}
	return nil
}}, nil)
