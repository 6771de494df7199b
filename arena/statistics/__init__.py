"""What the games say: results, intervals, ratings, exploitability, and the summary."""
