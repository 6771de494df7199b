"""Pursuits on a board: Scotland Yard and the Phantom of Old Prague, as one engine.

====================  ==========================================================================
``board.py``          boards as data: the file format, its checks, reading and writing
``generators.py``     grids, random maps, and the large board
``boards.py``         ``python -m envs.pursuit.boards``: draw, check and make boards
``options.py``        options, the record of a state and the numbers kernels read
``tables.py``         fills them; the boards of a game, and how fair a map is
``course.py``         who may go where, where the fugitive can be, and what follows
``kernels.py``        the table of functions, with a quick player
``game.py``           what both games share; ``scotland_yard.py`` and ``phantom.py`` their rules
====================  ==========================================================================
"""
