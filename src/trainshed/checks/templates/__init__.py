"""What other tools find in the synthesised templates of clusters, in the form of our findings."""
