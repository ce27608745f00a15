"""What scripts/conformance.py compares, a module for each kind of case."""
