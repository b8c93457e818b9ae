"""Who operates a cluster of Amazon EKS: a role that its access entries name."""

import json

import pytest
from kube_bench import credentials_of

from embedded_aws.embedded import EmbeddedAws

ROLE = "arn:aws:iam::123456789012:role/Operator"


def make_operator(aws: EmbeddedAws) -> None:
    """Make the role, which may do everything, before the cluster is deployed."""
    root = {"AWS": "arn:aws:iam::123456789012:root"}
    trust = {"Effect": "Allow", "Principal": root, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    iam = aws.client("iam")
    iam.create_role(RoleName="Operator", AssumeRolePolicyDocument=document)
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [everything]})
    iam.put_role_policy(RoleName="Operator", PolicyName="own", PolicyDocument=policy)


def be_role(aws: EmbeddedAws, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands call an embedded AWS by a role."""
    aws.lead_here(monkeypatch)
    found = credentials_of(aws, role)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", found.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", found.secret_key)
    monkeypatch.setenv("AWS_SESSION_TOKEN", found.token)
