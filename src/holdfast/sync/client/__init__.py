"""The client without sockets or clocks: replica, transactions, views and outbox."""
