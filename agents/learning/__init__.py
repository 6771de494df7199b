"""What learners share: the contract, opponents, devices, and their memory as files."""
