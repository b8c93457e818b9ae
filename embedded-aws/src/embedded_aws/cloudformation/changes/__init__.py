"""What a deployment changes."""
