"""The core every game stands on: contract, generators, positions, batches, ``check_game``."""
