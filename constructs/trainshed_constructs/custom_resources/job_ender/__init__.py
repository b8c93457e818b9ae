"""A function that ends the jobs that run of a job queue of AWS Batch."""
