"""Liar's Dice, solved round by round.

For two players, exactly, over a public tree that is never written down:

* :mod:`~agents.cfr.liars_dice.shape`: the tree of a round, and where everything lies in the tables;
* :mod:`~agents.cfr.liars_dice.passes`: the compiled walk over it;
* :mod:`~agents.cfr.liars_dice.iterations`: whole walks, shared by threads;
* :mod:`~agents.cfr.liars_dice.rounds`: CFR for one round;
* :mod:`~agents.cfr.liars_dice.harvest`: from the tables to the rows of a policy;
* :mod:`~agents.cfr.liars_dice.match`: from rounds to the match, and what it is worth;
* :mod:`~agents.cfr.liars_dice.judge`: the exploitability of a policy for a whole match;
* :mod:`~agents.cfr.liars_dice.keys`: decisions by what matters in a round;
* :mod:`~agents.cfr.liars_dice.learner`: all of it as a run of ``train.py``.

For up to six players, from samples: the modules that begin with ``sampled``, which go by rounds as
above or by :mod:`~agents.cfr.liars_dice.odds`.
"""
