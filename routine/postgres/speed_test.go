package postgres

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
)

func TestSpeedOfLargeLedger(t *testing.T) {
	optional.Speed(t)
	url := emptyDatabase(t)
	execute(t, url, fmt.Sprintf(`INSERT INTO executions (%s) SELECT %s FROM generate_series(1, %d::bigint) AS n`, routinetest.LargeLedgerColumns,
		strings.Replace(routinetest.LargeLedgerValues(`md5(n::text)`), `'name'`, `'name'::bytea`, 1), routinetest.LargeLedger))
	execute(t, url, `VACUUM ANALYZE executions`)
	routinetest.TestLargeLedger(t, open(t, url))
}
