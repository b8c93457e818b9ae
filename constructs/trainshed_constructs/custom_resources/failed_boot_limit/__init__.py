"""A limit on how often nodes whose first boot fails are replaced."""
