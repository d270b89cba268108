package practice

import (
	"fmt"
	"strings"
)

const currency = "EUR"

// cents is an amount of money, shown with two decimals. In JSON it is a number
// with two decimals too, so that 42.50 does not become 42.5.
type cents int

func (c cents) String() string { return fmt.Sprintf("%d.%02d", int(c)/100, int(c)%100) }

// MarshalJSON keeps the trailing zero, which a float would lose.
func (c cents) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }

type product struct {
	SKU      string `json:"sku"`
	Name     string `json:"name"`
	Price    cents  `json:"price"`
	Currency string `json:"currency"`
	Stock    int    `json:"stock"`
	Material string `json:"-"`
	Size     string `json:"-"`
}

// catalog returns the products of the shop in the order of searches. Some names
// contain characters that need escaping.
func catalog() []product {
	return []product{
		{"LAMP-01", "Brass Desk Lamp", 2950, currency, 7, "Brass, steel", "42 cm high"},
		{"LAMP-02", "Paper Floor Lamp", 6400, currency, 0, "Rice paper, beech", "150 cm high"},
		{"LAMP-03", "Clip-on Reading Lamp", 1890, currency, 23, "Aluminium", "30 cm long"},
		{"LAMP-04", "Blue Glass Bedside Lamp", 4100, currency, 3, "Glass, oak", "28 cm high"},
		{"MUG-01", "Stoneware Mug", 1200, currency, 48, "Stoneware", "0.3 l"},
		{"TEA-01", "Enamel Teapot", 3300, currency, 0, "Enamelled steel", "1.2 l"},
		{"MILL-01", "Salt & Pepper Mill", 2200, currency, 15, "Walnut, ceramic", "18 cm high"},
		{"TRAY-01", "Oak Café Tray", 2675, currency, 11, "Oak", "40 × 28 cm"},
		{"NOTE-01", "Linen Notebook", 1300, currency, 60, "Linen, paper", "A5, 160 pages"},
		{"PEN-01", "Fountain Pen, 0.5 mm", 3500, currency, 9, "Steel", "14 cm long"},
		{"CLOCK-01", "Kitchen Clock", 2750, currency, 5, "Steel, glass", "25 cm across"},
		{"BAG-01", "Canvas Tote Bag", 1550, currency, 31, "Cotton canvas", "38 × 42 cm"},
	}
}

type searchResponse struct {
	Query    string    `json:"query"`
	Products []product `json:"products"`
}

// findProducts returns the products whose names contain the query in any case.
// The empty query finds all. The result is never nil, so it is [] in JSON.
func findProducts(query string) []product {
	wanted := strings.ToLower(query)
	found := []product{}
	for _, p := range catalog() {
		if strings.Contains(strings.ToLower(p.Name), wanted) {
			found = append(found, p)
		}
	}
	return found
}

func productBySKU(sku string) (product, bool) {
	for _, p := range catalog() {
		if p.SKU == sku {
			return p, true
		}
	}
	return product{}, false
}

type order struct {
	ID       string `json:"id"`
	Total    cents  `json:"total"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	Placed   string `json:"-"`
	Items    string `json:"-"`
}

type ordersResponse struct {
	Orders []order `json:"orders"`
}

// orders returns Ada's orders, newest first.
func orders() []order {
	return []order{
		{"A-1001", 4250, currency, "shipped", "2026-03-14", "Brass Desk Lamp, Linen Notebook"},
		{"A-1000", 2200, currency, "delivered", "2026-02-02", "Salt & Pepper Mill"},
		{"A-0999", 3300, currency, "cancelled", "2026-01-20", "Enamel Teapot"},
	}
}

func orderByID(id string) (order, bool) {
	for _, o := range orders() {
		if o.ID == id {
			return o, true
		}
	}
	return order{}, false
}
