"""Why a job waits or has failed, and what to do about it."""
