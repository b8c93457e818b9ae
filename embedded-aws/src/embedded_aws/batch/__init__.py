"""AWS Batch: compute environments, queues, job definitions, jobs."""
