"""Rules over plans of AWS Batch, a module for each topic."""
