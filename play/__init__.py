"""A person at the table: every game against any agent, in a browser or in a terminal.

``command_line`` reads what is asked for; ``server`` and ``terminal`` are the two ways to play. A
browser's ``messages`` are answered by ``lobby``, ``moves`` and ``advice``. ``table`` is one game in
play, ``session`` the games of a table one after the other, ``tables`` all of them and the browsers
at them; ``view`` is what a seat may know of a game. ``catalogue`` says what can be played and by
whom, ``agents`` think, ``compiling`` gets games ready, ``store`` and ``maps`` are files.
"""
