package main

import (
	"context"
	"slices"
	"strings"

	"rote/cmd/rote/practice"
	"rote/httpapi/console"
)

// startShop starts the practice shop for --demo, at its usual port if that is free. The
// settings that it returns let runs reach the shop.
func startShop(ctx context.Context, g *globals) (*globals, *loopbackServer, error) {
	shop, err := listen(ctx, practice.Address, practice.NewSite())
	if err != nil {
		return nil, nil, err
	}
	own := *g
	own.AllowHost = append(slices.Clone(g.AllowHost), shop.address)
	return &own, shop, nil
}

// shopExamples are the routines of the practice shop at an address. The search comes first,
// with values to try.
func shopExamples(address string) []console.Example {
	var list []console.Example
	for _, r := range practice.Routines() {
		x := console.Example{Name: strings.TrimSuffix(r.Name, ".json"), Definition: r.JSON, Values: map[string]string{"site": "http://" + address}}
		if x.Name == demoTool {
			x.Values["query"] = "lamp"
			list = slices.Insert(list, 0, x)
			continue
		}
		list = append(list, x)
	}
	return list
}
