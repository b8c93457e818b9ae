"""What a node has, and what the programs on it expect."""
