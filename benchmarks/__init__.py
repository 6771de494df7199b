"""Our speed against the peers, measured in one run, as a ratio: ``python -m benchmarks.<name>``.

``harness`` turns jobs into a table, a JSON file and an exit code; ``growth`` shows how our own
cost grows.
"""
