"""What a deployment would change."""
