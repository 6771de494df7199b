"""Liar's Dice, solved round by round.

For two players, exactly, over a public tree that is never written down:

* ``shape``: the tree of a round, and where everything lies in the arrays;
* ``passes`` and ``hand_vectors``: the compiled walk over it;
* ``iterations``: whole walks, shared by threads;
* ``rounds``: CFR for one round;
* ``extraction``: from the arrays to the rows of a policy;
* ``match``: from rounds to the match, and its value;
* ``best_response``: the exploitability of a policy for a whole match;
* ``keys``: decisions by what matters in a round;
* ``learner``: all of it as a run of ``train.py``.

For up to six players, from samples: the modules that begin with ``sampled``, which go by rounds as
above or by ``odds``.
"""
