"""Resource Groups."""
