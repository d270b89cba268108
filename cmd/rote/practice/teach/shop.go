package teach

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Order is one line of an order, or of a cart.
type Order struct {
	Item     string
	Quantity int
}

// Orders are the lines of all orders that Shop has got.
func (s *Sites) Orders() []Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Order(nil), s.orders...)
}

// Items are the names of what Shop sells.
func (s *Sites) Items() []string { return names(s.random("items"), "basket", 24) }

func itemPath(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

func (h *site) shopRoutes() {
	type item struct{ Name, Path string }
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var found []item
		for _, name := range h.Items() {
			if strings.Contains(strings.ToLower(name), strings.ToLower(r.FormValue("q"))) {
				found = append(found, item{name, itemPath(name)})
			}
		}
		h.show(w, http.StatusOK, "shop", map[string]any{"Query": r.FormValue("q"), "Items": found})
	})
	h.mux.HandleFunc("GET /items/{path}", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range h.Items() {
			if itemPath(name) == r.PathValue("path") {
				h.show(w, http.StatusOK, "shop_item", item{name, itemPath(name)})
				return
			}
		}
		http.NotFound(w, r)
	})
	h.mux.HandleFunc("POST /cart", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		quantity, err := strconv.Atoi(r.FormValue("quantity"))
		if err != nil || quantity < 1 || quantity > 99 {
			http.Error(w, "the quantity must be between 1 and 99", http.StatusBadRequest)
			return
		}
		v := h.visit(w, r)
		v.cart = append(v.cart, Order{r.FormValue("item"), quantity})
		http.Redirect(w, r, "/cart", http.StatusSeeOther)
	})
	h.mux.HandleFunc("GET /cart", func(w http.ResponseWriter, r *http.Request) {
		h.show(w, http.StatusOK, "shop_cart", h.visit(w, r).cart)
	})
	h.mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		v := h.visit(w, r)
		if len(v.cart) == 0 {
			http.Error(w, "the cart is empty", http.StatusBadRequest)
			return
		}
		h.orders = append(h.orders, v.cart...)
		v.cart = nil
		http.Redirect(w, r, fmt.Sprintf("/orders/%d", 1000+len(h.orders)), http.StatusSeeOther)
	})
	h.mux.HandleFunc("GET /orders/{number}", func(w http.ResponseWriter, r *http.Request) {
		h.show(w, http.StatusOK, "shop_order", r.PathValue("number"))
	})
}
