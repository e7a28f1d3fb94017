"""The methods of a store, by subject. `Store` in `store.py` joins them."""
