"""The school: runs of learners, from a YAML file to a folder that can be taken up again."""

from __future__ import annotations
