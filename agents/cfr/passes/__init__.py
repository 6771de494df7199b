"""The compiled passes over a game: reach, counterfactual values, regrets and best responses.

* :mod:`~agents.cfr.passes.sequences`: over the sequence form, one information set at a time;
* :mod:`~agents.cfr.passes.vectors`: over the public tree, all hands at a time;
* :mod:`~agents.cfr.passes.thread_team`: threads that share them;
* :mod:`~agents.cfr.passes.atomics`: numbers that several threads change.
"""
