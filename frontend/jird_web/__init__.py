"""`jird-web`, the pages and the HTTP API: a client of the daemon's search socket that holds no state."""
