"""Ends the jobs that run of a job queue of AWS Batch, when its cluster has expired."""

import logging
import os

import boto3


def handler(event: object, context: object) -> None:
    """Terminate them: their containers get SIGTERM. Called twice, it ends nothing more."""
    batch = boto3.client("batch")
    for status in ("STARTING", "RUNNING"):
        pages = batch.get_paginator("list_jobs").paginate(
            jobQueue=os.environ["QUEUE"], jobStatus=status
        )
        for job in [each for page in pages for each in page["jobSummaryList"]]:
            batch.terminate_job(jobId=job["jobId"], reason=os.environ["REASON"])
            logging.warning("job %s (%s) is ended", job["jobId"], job["jobName"])
