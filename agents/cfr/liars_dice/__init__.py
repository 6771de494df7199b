"""Liar's Dice for two players, solved round by round with a public tree of its own.

* :mod:`~agents.cfr.liars_dice.shape`: the tree of a round, which is never written down;
* :mod:`~agents.cfr.liars_dice.passes`: the compiled walk over it;
* :mod:`~agents.cfr.liars_dice.rounds`: the solver of a round.
"""
