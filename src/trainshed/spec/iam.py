"""What an organisation asks of every IAM role: fields of both files."""

from typing import Annotated

from pydantic import Field

from trainshed.documents.model import Model
from trainshed.spec import forms


class IamSpec(Model):
    """What every IAM role and instance profile carries."""

    boundary: Annotated[str, Field(pattern=forms.POLICY.pattern)] | None = None
    """ARN of the managed policy that is the permissions boundary of every role; default: none."""
    prefix: Annotated[str, Field(pattern=forms.ROLE_PREFIX.pattern)] | None = None
    """What the names of all roles and instance profiles begin with; default: CloudFormation's."""
