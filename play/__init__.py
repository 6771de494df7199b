"""A person at the table: every game against any agent, in a browser or in a terminal.

``table`` is one game in play, ``seeing`` what a seat may know of it, ``thinking`` the agents who
move in it, ``store`` the tables as files and ``tables`` all of them. ``hall`` takes what browsers
say and hands it on: to ``turns`` (moves), ``counsel`` (advice) and ``map_room``. ``warming`` has
games compiled, ``server`` are the doors, ``terminal`` is the other way to play.
"""
