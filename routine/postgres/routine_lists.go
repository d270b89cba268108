package postgres

import (
	"context"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/rows"
)

// Routines lists the matches of f, newest first. Creation times have a resolution of one
// second. Within a second, the larger id comes first: ids are UUIDs of version 7, which
// increase with time.
func (s *Store) Routines(ctx context.Context, f routine.RoutineFilter) (list []*routine.Routine, total int, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, q queryer) (err error) {
		list, total, err = listRoutines(ctx, q, f)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list routines: %w", err)
	}
	return list, total, nil
}

func listRoutines(ctx context.Context, q queryer, f routine.RoutineFilter) (list []*routine.Routine, total int, err error) {
	var incomplete []int // indexes in list
	read := 0
	query, args := routinePageQuery(f)
	list, err = collect(ctx, q, func(scan rows.Scan) (*routine.Routine, error) {
		r, complete, err := rows.ScanRoutine(scan)
		if !complete {
			incomplete = append(incomplete, read)
		}
		read++
		return r, err
	}, query, args...)
	if err != nil {
		return nil, 0, err
	}
	for _, i := range incomplete {
		if list[i], _, err = rows.ScanRoutine(q.QueryRow(ctx, selectWholeRoutine, list[i].ID).Scan); err != nil {
			return nil, 0, err
		}
		list[i].OmitDetails()
	}
	// On the last page the total is known without a count.
	if n := len(list); (f.Limit <= 0 || n < f.Limit) && (n > 0 || f.Offset == 0) {
		return list, min(f.Offset+n, routine.MaxTotal+1), nil
	}
	matches := routineMatchQuery(f)
	err = q.QueryRow(ctx, countQuery(matches.text.String(), routine.MaxTotal), matches.args...).Scan(&total)
	return list, total, err
}

// countQuery returns a query for the number of rows of another one, at most limit+1.
func countQuery(query string, limit int) string {
	return fmt.Sprintf(`SELECT count(*) FROM (%s LIMIT %d) AS matches`, query, limit+1)
}

// query is a statement that is put together from parts with arguments.
type query struct {
	text strings.Builder
	args []any
}

// add appends a part of the statement. Each ? in it stands for the next argument.
func (q *query) add(part string, args ...any) {
	for _, arg := range args {
		before, after, _ := strings.Cut(part, "?")
		q.args = append(q.args, arg)
		fmt.Fprintf(&q.text, "%s$%d", before, len(q.args))
		part = after
	}
	q.text.WriteString(part)
}

// routinePageQuery returns a query that chooses the page using indexes only, and reads
// only the rows of that page.
func routinePageQuery(f routine.RoutineFilter) (text string, args []any) {
	definition, partial := `definition`, `false`
	switch {
	case f.WithoutDefinitions:
		definition = `NULL::text`
	case f.MaxDefinition > 0:
		partial = fmt.Sprintf(`octet_length(definition) > %d`, f.MaxDefinition)
		definition = fmt.Sprintf(`CASE WHEN %s THEN substr(convert_to(definition, 'UTF8'), 1, %d) ELSE convert_to(definition, 'UTF8') END`,
			partial, rows.MaxHeaderBytes)
	}
	page := routineMatchQuery(f)
	page.add(` ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`, limitOf(f.Limit), f.Offset)
	return `WITH page AS (` + page.text.String() + `)` + selectRoutine(definition, partial) +
		`JOIN page USING (id) ORDER BY page.created_at DESC, id DESC`, page.args
}

// routineMatchQuery returns a query for id and created_at of all matches. "Own or public"
// is a union of two disjoint queries instead of an OR, because each can then be read from
// its index in the order of the list.
func routineMatchQuery(f routine.RoutineFilter) *query {
	q := &query{}
	if f.OrganizationID != "" {
		addRoutineSubset(q, f, `organization_id = ?`, value(f.OrganizationID))
		if !f.Public {
			return q
		}
		q.add(` UNION ALL `)
	}
	addRoutineSubset(q, f, `is_public`)
	if f.OrganizationID != "" {
		q.add(` AND organization_id <> ?`, value(f.OrganizationID))
	}
	return q
}

// addRoutineSubset adds a query for the matches of f that also meet condition. The table
// of tags has the same columns as routines, except words, name and tool_name.
func addRoutineSubset(q *query, f routine.RoutineFilter, condition string, args ...any) {
	words, name, toolName := `words`, `name`, `tool_name`
	if f.Tag == "" {
		q.add(`SELECT id, created_at FROM routines WHERE `)
	} else {
		q.add(`SELECT id, created_at FROM routine_tags t WHERE tag = ? AND `, []byte(f.Tag))
		column := func(name string) string { return `(SELECT ` + name + ` FROM routines WHERE routines.id = t.id)` }
		words, name, toolName = column(words), column(name), column(toolName)
	}
	q.add(condition, args...)
	switch {
	case f.Published:
		q.add(` AND status = 'active' AND is_mcp_tool_designated`)
	case f.Unpublished:
		q.add(` AND (status <> 'active' OR NOT is_mcp_tool_designated)`)
	default:
		statuses := []any{}
		for _, status := range rows.ListedStatuses(f) {
			statuses = append(statuses, value(string(status)))
		}
		q.add(` AND status = ANY(?)`, statuses)
	}
	if f.Designated != nil {
		q.add(` AND is_mcp_tool_designated = ?`, *f.Designated)
	}
	if f.IsPublic != nil {
		q.add(` AND is_public = ?`, *f.IsPublic)
	}
	if f.ToolName != "" {
		q.add(` AND `+toolName+` = ?`, value(f.ToolName))
	}
	if f.Name != "" {
		q.add(` AND `+name+` = ?`, []byte(f.Name))
	}
	for _, word := range f.Words {
		q.add(` AND position(?::bytea IN `+words+`) > 0`, []byte(strings.ToLower(word)))
	}
}
