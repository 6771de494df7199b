"""No Thanks! for three in time slices: databases of positions from the end of the game backwards.

The deck is cut into segments, by default six of three cards and a last one of six. Where a segment
ends, a database holds positions with their final scores: those before the last segment by search to
the end, the others by search to the next boundary, where the nearest neighbour in the database
there says what becomes of it. A player searches to the next boundary, too.

==================  =============================================================================
``features.py``     twelve numbers in five categories that describe a position at a boundary
``slice_game.py``   a segment as a game of its own, which pays what the database says
``positions.py``    positions with a given number of cards left, at random or from games
``database.py``     making, saving and loading
``agent.py``        the player
``tuning.py``       the search for weights of the features
==================  =============================================================================
"""
