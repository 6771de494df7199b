"""The doors ``train.py``, ``evaluate.py`` and ``play.py``: the same files, inside the package."""
