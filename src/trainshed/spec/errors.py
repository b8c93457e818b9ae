"""What is raised when cluster files or the AMI pipeline's file are wrong."""

from trainshed.documents.problems import InvalidDocument


class SpecError(InvalidDocument):
    """One or more cluster descriptions contradict themselves, AWS, or each other."""
