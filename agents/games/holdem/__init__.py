"""Players of No-Limit Texas Hold'em by rule."""
