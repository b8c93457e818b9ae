"""How Hypothesis runs: the same examples in every run, and no time limit on a busy machine."""

from hypothesis import settings

settings.register_profile("trainshed", deadline=None, derandomize=True, database=None)
settings.load_profile("trainshed")
