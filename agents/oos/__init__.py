"""Players that solve the game while they play it: by sampling, or all of it where it is small."""
