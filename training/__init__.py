"""Training runs, from a YAML file to a folder from which they can be resumed."""
