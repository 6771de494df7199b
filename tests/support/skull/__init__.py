"""Skull for two in one round: a whole game in one folder, for tests of what a new game needs."""
