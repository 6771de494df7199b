"""Players of Scotland Yard and the Phantom of Old Prague, for both roles.

=====================  ==========================================================================
``simple.py``          distances and shortest ways that tickets pay for, and nothing else
``belief.py``          both sides reason about where the fugitive can be, or look ahead by it
``capture.py``         capture tables: rounds to a catch, exactly, if he is always seen
``capture_player.py``  detectives who judge the belief by these tables
``search.py``          ISMCTS by tables, and by what kind of detectives a fugitive has before him
``abstraction.py``     what table learners go by, and their reward
=====================  ==========================================================================
"""
