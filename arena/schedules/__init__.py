"""What a tournament is: its specification, and who meets whom in which seats."""
