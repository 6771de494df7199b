"""Liar's Dice: rules in ``kernels``, the game in ``game``, its picture in ``picture``."""
