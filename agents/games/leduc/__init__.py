"""Players of Leduc poker."""
