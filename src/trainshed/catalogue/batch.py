"""The limits of AWS Batch."""

# AWS Batch, UpdatePolicy: the longest time that a job may go on during an infrastructure update.
LONGEST_UPDATE_MINUTES = 7200
