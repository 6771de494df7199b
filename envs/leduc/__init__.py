"""Leduc poker: rules in ``kernels``, the game in ``game``, its picture in ``picture``."""
