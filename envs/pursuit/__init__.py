"""Pursuits on a board: Scotland Yard and the Phantom of Old Prague, as one engine.

====================  ==========================================================================
``board.py``          boards as data: the file format, its checks, reading and writing
``generators.py``     grids and random maps; ``city.py`` draws the large board
``pool.py``           the boards of a game, and how fair a map is
``boards.py``         ``python -m envs.pursuit.boards``: draw, check and make boards
``record.py``         the record of a state and the numbers kernels read; ``tables.py`` fills them
``moves.py``          who may go where; ``belief.py`` where the fugitive can be;
                      ``course.py`` what follows; ``kernels.py`` the table of functions;
                      ``rollout.py`` a quick player
``game.py``           what both games share; ``scotland_yard.py`` and ``phantom.py`` their rules
====================  ==========================================================================
"""
