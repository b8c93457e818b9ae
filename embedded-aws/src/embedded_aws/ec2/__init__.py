"""EC2: instances, images, networks, capacity."""
