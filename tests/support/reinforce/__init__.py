"""REINFORCE (Williams, 1992): a whole learner in one folder, for tests of what a new one needs."""
