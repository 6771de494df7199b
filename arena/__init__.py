"""Where players meet: matches, tournaments, statistics, ratings and reports."""
