"""The Offline player: a table learns, then a network learns to name the table's best actions."""

# It says what to install where torch is missing.
from agents.learning import networks as _networks  # noqa: F401
