"""`jirdctl`, the operator's command: a client of the daemon's admin socket, one module for each group of commands."""
