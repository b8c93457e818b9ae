"""What trainshed adds to the embedded AWS: withdrawn types, stand-ins for AMIs and images."""
