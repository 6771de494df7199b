"""Learners that keep a table: Q-learning, SARSA and their relatives, for any game.

The parts, from the inside out: ``table`` (numbers by key), ``selection`` (from values to an
action), ``turns`` (one decision and what is learnt from it), ``games`` (whole games, compiled),
``model`` (all that one learner knows), ``learner`` and ``player``. What a game may add (information
abstractions, rewards, opponent models) is in ``components``.
"""
