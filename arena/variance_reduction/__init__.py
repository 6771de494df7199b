"""Variance reduction in the manner of AIVAT: returns from which chance is taken out."""
