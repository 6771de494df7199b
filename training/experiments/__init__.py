"""What was published for each game, repeated: a module a table, run by ``training.reproduce``."""
