"""A strict CloudFormation: schema checks, events, rollback, replacement, retention, exports."""

from trainshed.offline.cloudformation.install import install

__all__ = ["install"]
