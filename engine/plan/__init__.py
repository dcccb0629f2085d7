"""Concrete shapes in, a list of dispatches out: folding, placement, buffer lifetimes."""
