"""The experiments of Phantom of Old Prague."""

__all__ = ["JOINT_SEARCH"]

JOINT_SEARCH = "experiments.phantom.joint:JointSearchAgent"
"""The player of the thesis, as agents are named."""
