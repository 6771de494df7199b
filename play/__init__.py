"""A person at the table: every game against any agent, in a browser or in a terminal.

``table`` is one game in play, ``seeing`` what a seat may know of it, ``thinking`` the agents who
move in it, ``advice`` what they would do in a person's place, ``store`` the tables as files,
``hall`` all tables with the browsers that sit at them, ``server`` the doors for those, ``terminal``
the other way to play.
"""
