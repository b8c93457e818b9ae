"""Code of Lambda functions; constructs put its text into templates."""
