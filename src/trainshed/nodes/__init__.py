"""What a node has, and what runs on it expects."""
