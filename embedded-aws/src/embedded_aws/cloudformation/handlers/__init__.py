"""What the resource types of all services share."""
