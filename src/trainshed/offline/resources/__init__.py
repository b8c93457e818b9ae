"""Resource handlers, one module per AWS service: properties in, API calls out."""
