"""Sparse autoencoders: how they are trained, and what their features do."""
