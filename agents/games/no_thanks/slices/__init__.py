"""No Thanks! for three in time slices, from the end of the game backwards.

The deck is cut into segments, by default six of three cards and a last one of six. Where a segment
ends lies a boundary. Positions there are solved: at the last one by search to the end, at the
others by search to the next, where an estimate says what becomes of everybody. A player searches to
the next boundary, too, and asks the same estimate.

==================  =============================================================================
``features.py``     twelve numbers in five categories that describe a position at a boundary
``nearest.py``      an estimate: what became of the nearest neighbour, found by a k-d tree
``database.py``     solved positions of all boundaries for it: made, saved and loaded
``tuning.py``       the search for weights of the features by matches
``fitted.py``       weights for every boundary of its own, fitted to solved positions
``rolling.py``      how a game goes on if everybody takes at one threshold
``strength.py``     another estimate: expected places from a regression or a small network
``fitting.py``      how it is fitted
``models.py``       models for all boundaries of a known deck, made backwards
``self_play.py``    a model for hidden decks, learnt from games against itself
``positions.py``    positions with a given number of cards left, at random or from games
``filling.py``      many rows, in several processes, kept as they come
``keeping.py``      files
``matches.py``      two strategies compared, deck by deck
``agent.py``        the players
==================  =============================================================================
"""
