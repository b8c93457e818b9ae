"""The AWS Price List."""
