"""Processes on instances: where they run on this machine, as whom, and what they print."""
