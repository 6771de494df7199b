"""How a game is written down before it is solved.

* :mod:`~agents.cfr.forms.records` and :mod:`~agents.cfr.forms.walk`: the compiled walk over all
  histories, and what it fills;
* :mod:`~agents.cfr.forms.tree`: every node and information set, as flat arrays;
* :mod:`~agents.cfr.forms.sequence_form`: what solvers need of it, for any number of players;
* :mod:`~agents.cfr.forms.public`: what everybody sees, with the hands that players can have there;
* :mod:`~agents.cfr.forms.matrices`: what the ends of the public tree pay, hand against hand;
* :mod:`~agents.cfr.forms.layout`: its vectors over hands, and where they lie;
* :mod:`~agents.cfr.forms.division`: how either form is cut into parts that threads can share.
"""
