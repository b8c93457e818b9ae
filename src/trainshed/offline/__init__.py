"""What trainshed adds to the embedded AWS: withdrawn instance types, stand-ins for AMIs."""
