"""Kuhn poker: rules in ``kernels``, the game in ``game``."""
