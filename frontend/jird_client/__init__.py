"""Clients of the daemon: sockets, channels with deadlines, and errors as exceptions."""
