"""Players that know No Thanks!."""
