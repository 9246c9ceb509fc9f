"""Exact solutions of kernel systems: products without matrices, preconditioners, iterations."""
