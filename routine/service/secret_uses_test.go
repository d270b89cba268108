package service_test

import (
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// Uses of secrets are kept as long as executions, and for at least 90 days.
func TestSecretUsesArePruned(t *testing.T) {
	const day = 24 * time.Hour
	for retention, kept := range map[routine.Retention]int{{}: 4, {Age: day}: 2, {Age: 120 * day}: 3, {Age: day, SecretUses: 120 * day}: 3,
		{Age: day, SecretUses: day}: 2} {
		synctest.Test(t, func(t *testing.T) {
			store := routinetest.NewStore()
			var uses []routine.SecretUse
			for _, days := range []time.Duration{2, 89, 91, 121} {
				uses = append(uses, routine.SecretUse{OrganizationID: "acme", Name: "shop", At: time.Now().Add(-days * day)})
			}
			if err := store.RecordSecretUses(t.Context(), uses); err != nil {
				t.Fatal(err)
			}
			_, stop := maintained(store, &receiver{}, func(c *service.Config) { c.Retention = retention })
			time.Sleep(2 * time.Minute) // of the test's own clock
			stop()
			if _, n, err := store.SecretUses(t.Context(), "acme", "", "shop", 0, 0); n != kept || err != nil {
				t.Errorf("with a retention of %v, %d uses are kept, want %d; %v", retention, n, kept, err)
			}
		})
	}
}
