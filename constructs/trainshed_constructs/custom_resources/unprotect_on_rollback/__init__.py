"""Termination protection that ends when the stack's creation fails."""
