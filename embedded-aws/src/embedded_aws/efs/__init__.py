"""Amazon EFS."""
