package teach

import (
	"fmt"
	"math/rand/v2"
)

// The words that names are made of.
var (
	models = []string{"Nord", "Vega", "Luma", "Arden", "Tove", "Sole", "Birk", "Fjord", "Maren", "Odin", "Pinea", "Rune", "Silva", "Terra", "Ulla", "Vinter",
		"Ask", "Brisa", "Cala", "Dune", "Elm", "Flora", "Glim", "Hav", "Iris", "Juno", "Kalk", "Lind", "Mosa", "Nila", "Olea", "Perla"}
	adjectives = []string{"Small", "Tall", "Round", "Folding", "Garden", "Kitchen", "Quiet", "Bright", "Walnut", "Linen", "Copper", "Travel"}
	verbs      = []string{"opens", "closes", "wins", "finds", "plans", "sells", "builds", "moves", "leaves", "paints"}
	subjects   = []string{"City council", "Harbour", "School orchestra", "Museum", "Rowing club", "Bakery", "Library", "Football team", "Tram company", "Theatre",
		"Observatory", "Market hall"}
	objects = []string{"a bridge", "the north gate", "two boats", "a garden", "old maps", "the clock tower", "a night train", "free lessons", "a new roof",
		"the long table"}
)

// price is an amount in cents, shown with a currency.
type price int

func (p price) String() string { return fmt.Sprintf("%d.%02d €", int(p)/100, int(p)%100) }

// names are n different names of products of a kind, such as "lamp".
func names(random *rand.Rand, kind string, n int) []string {
	all := make([]string, 0, len(adjectives)*len(models))
	for _, a := range adjectives {
		for _, m := range models {
			all = append(all, fmt.Sprintf("%s %s %s", a, kind, m))
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// headlines are n different titles.
func headlines(random *rand.Rand, n int) []string {
	all := make([]string, 0, len(subjects)*len(verbs)*len(objects))
	for _, s := range subjects {
		for _, v := range verbs {
			for _, o := range objects {
				all = append(all, fmt.Sprintf("%s %s %s", s, v, o))
			}
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}
