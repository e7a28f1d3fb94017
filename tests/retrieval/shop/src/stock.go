package shop

import "errors"

// ErrSoldOut says that nothing is left on the shelf.
var ErrSoldOut = errors.New("sold out")

type Warehouse struct {
	shelves map[string]int
}

// Reserve holds pieces back so that nobody else can buy them.
func (w *Warehouse) Reserve(sku string, pieces int) error {
	if w.shelves[sku] < pieces {
		return ErrSoldOut
	}
	w.shelves[sku] -= pieces
	return nil
}

// Restock is called when a delivery arrives.
func (w *Warehouse) Restock(sku string, pieces int) {
	w.shelves[sku] += pieces
}
