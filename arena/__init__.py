"""Where players meet: matches now; tournaments, ratings and reports are built on them."""

from arena.playing.match import MatchResult, play_match

__all__ = ["MatchResult", "play_match"]
