"""EC2: instances, AMIs, networks, capacity."""
