"""What AWS's APIs do and moto's do not, one module per service."""
