package shop

import "testing"

func TestReserveSoldOut(t *testing.T) {
	w := &Warehouse{shelves: map[string]int{"mug": 1}}
	if w.Reserve("mug", 2) != ErrSoldOut {
		t.Fatal("two mugs out of one")
	}
}
