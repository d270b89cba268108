package routinetest_test

import (
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestMemoryStore(t *testing.T) {
	routinetest.TestStore(t, func(*testing.T) routine.Store { return routinetest.NewStore() })
}
