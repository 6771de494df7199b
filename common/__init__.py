"""What every room needs and no game: errors, files, commands, progress, statistics, processes."""
