"""Accelerator training clusters on AWS, described in a short file and proven offline."""

__version__ = "0.1.0"
