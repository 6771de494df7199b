"""The experiments of No-Limit Hold'em."""
