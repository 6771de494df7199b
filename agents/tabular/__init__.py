"""Learners that keep a table: Q-learning, SARSA and their relatives, for any game.

The parts, from the inside out: ``table`` (numbers by key), ``choosing`` (from values to a move),
``turns`` (one decision and what is learnt from it), ``games`` (whole games, compiled), ``mind``
(all that one learner knows), ``learner`` and ``player``. What a key stands for is a *coding*; see
``codings``.
"""
