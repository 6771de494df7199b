"""How a tournament is played: work units, processes, clusters, and the folder that keeps it."""
