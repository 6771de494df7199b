"""Games between agents: matches, learners at the table, replays."""
