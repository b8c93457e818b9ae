"""What stops the nodes of a cluster by itself."""
