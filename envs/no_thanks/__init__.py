"""No Thanks!: the rules in ``game.py``, the compiled functions in ``kernels.py``."""

from envs.no_thanks.game import NoThanks, NoThanksOptions

__all__ = ["NoThanks", "NoThanksOptions"]
