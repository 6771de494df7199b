"""Players of Kuhn poker."""
