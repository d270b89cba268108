package teach

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

const (
	catalogPageSize = 40
	catalogPages    = 5
)

// categories are those of the catalog, with the kind of their products.
var categories = []struct{ Slug, Title, kind string }{
	{"lamps", "Lamps", "lamp"}, {"chairs", "Chairs", "chair"}, {"tables", "Tables", "table"}, {"rugs", "Rugs", "rug"},
	{"beds", "Beds", "bed"}, {"sofas", "Sofas", "sofa"}, {"clocks", "Clocks", "clock"}, {"mirrors", "Mirrors", "mirror"},
}

// Product is one of the catalog or of the search.
type Product struct {
	Name  string `json:"name"`
	Price string `json:"price"`
	// Path is where the product's own page is.
	Path  string `json:"path"`
	Stock int    `json:"stock"`
	Stars int    `json:"-"`
}

// Products are those on a page, from 1, of a category of the catalog; none if there is no
// such page.
func (s *Sites) Products(category string, page int) []Product {
	at := slices.IndexFunc(categories, func(c struct{ Slug, Title, kind string }) bool { return c.Slug == category })
	if at < 0 || page < 1 || page > catalogPages {
		return nil
	}
	random := s.random("catalog " + category)
	all := make([]Product, 0, catalogPageSize*catalogPages)
	for i, name := range names(random, categories[at].kind, catalogPageSize*catalogPages) {
		all = append(all, Product{Name: name, Price: price(900 + random.IntN(90_000)).String(),
			Path: fmt.Sprintf("/p/%s-%d", categories[at].kind, 100+i), Stock: random.IntN(30), Stars: 1 + random.IntN(5)})
	}
	return all[(page-1)*catalogPageSize:][:catalogPageSize]
}

func (h *site) catalogRoutes() {
	type content struct {
		Categories any
		Title      string
		Products   []Product
		Page, Next int
		Pages      []int
	}
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		h.show(w, http.StatusOK, "catalog", content{Categories: categories})
	})
	h.mux.HandleFunc("GET /c/{category}", func(w http.ResponseWriter, r *http.Request) {
		page := 1
		if text := r.FormValue("page"); text != "" {
			page, _ = strconv.Atoi(text) // 0 has no products
		}
		products := h.Products(r.PathValue("category"), page)
		if products == nil {
			http.NotFound(w, r)
			return
		}
		c := content{Categories: categories, Products: products, Page: page, Pages: []int{1, 2, 3, 4, 5}}
		for _, x := range categories {
			if x.Slug == r.PathValue("category") {
				c.Title = x.Title
			}
		}
		if page < catalogPages {
			c.Next = page + 1
		}
		h.show(w, http.StatusOK, "catalog", c)
	})
}
