"""No Thanks! for three in time slices, from the end of the game backwards.

The deck is cut into segments, by default six of three cards and a last one of six. Where a segment
ends lies a boundary. Positions there are solved: at the last one by search to the end, at the
others by search to the next, where an estimate says what becomes of everybody. A player searches to
the next boundary, too, and asks the same estimate.

================  ===============================================================================
``features.py``   what is known of a position at a boundary, in numbers
``estimates.py``  what becomes of everybody: the nearest neighbour in a database, or a model of
                  strength, a regression or a small network
``files.py``      estimates of all boundaries, as a file holds them
``agent.py``      the players
================  ===============================================================================

``experiments/no_thanks/`` makes the files; two are shipped.
"""
