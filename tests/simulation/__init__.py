"""Many clients, one server, a bad network and a virtual clock, all from one seed."""
