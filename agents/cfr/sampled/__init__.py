"""Solving by samples: Monte Carlo CFR, without ever writing a game down.

* :mod:`~agents.cfr.sampled.solver`: any game, any number of players, with
  :mod:`~agents.cfr.sampled.settings` to choose how samples are drawn;
* :mod:`~agents.cfr.sampled.walk`, :mod:`~agents.cfr.sampled.nodes` and
  :mod:`~agents.cfr.sampled.workspace`: the compiled walks;
* :mod:`~agents.cfr.sampled.hooks`: abstractions, continuation values and opponents of a game;
* :mod:`~agents.cfr.sampled.hash_tables`: tables of fixed size, found by key;
* :mod:`~agents.cfr.sampled.walk_solver` and :mod:`~agents.cfr.sampled.learner`: what solvers by
  samples, and their runs of ``train.py``, have in common.
"""
