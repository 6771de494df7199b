"""Players of Scotland Yard and the Phantom of Old Prague, for both roles.

=================  ==============================================================================
``heuristic.py``   keeps away from the nearest detective; heads for where he was last seen, by the
                   shortest way that tickets pay for
``greedy.py``      the plainest of all: largest and smallest distance
``belief.py``      both sides reason about where the fugitive can be
``capture.py``     capture tables: rounds to a catch, exactly, if he is always seen
``capture_player.py``  detectives who judge the belief by these tables
``reduced/``       the reduced game searched, solved and learnt
=================  ==============================================================================
"""
