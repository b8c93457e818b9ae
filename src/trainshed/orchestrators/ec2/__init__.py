"""Plain EC2 nodes, that are there all the time, and jobs on them by Systems Manager."""
