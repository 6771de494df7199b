"""The publications, repeated: ``python -m experiments NAME`` prints a table and ours beside it."""
