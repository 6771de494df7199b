"""Learners that keep a table: Q-learning, SARSA and their relatives, for any game.

From the inside out: ``hooks`` (what a game may add), ``table`` (numbers by key, and the choice of
an action), ``model`` (settings, and all that one learner knows), ``turns`` (one decision and what
is learnt from it), ``games`` (whole games, compiled or with others), ``learner`` with its player.
"""
