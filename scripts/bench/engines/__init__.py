"""Engines behind one interface, each in a process of its own: jird's index, and those it is compared with."""
