"""A strict CloudFormation: schema checks, events, rollback, replacement, retention, exports."""

from embedded_aws.cloudformation.api.install import install

__all__ = ["install"]
