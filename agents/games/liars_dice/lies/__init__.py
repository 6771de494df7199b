"""Lie profiling for Liar's Dice: how often do the others' bids turn out to be false?"""
