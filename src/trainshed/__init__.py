"""Accelerator training clusters on AWS, described in a short file and proven offline."""
