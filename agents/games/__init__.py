"""What knows one game: its rule players, abstractions, opponent models and solvers."""
