"""What the files that users write have in common: their models, forms, and mistakes by line."""
