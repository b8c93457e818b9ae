"""Lambda function that gives a default security group what multi-node tasks need.

Adds rules that are missing, tagged with each stack that needs them; revokes one with its last tag.
Other rules stay, but for open egress, if asked. CloudFormation's limit is 4096 characters.
"""

import logging
import time
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError

_WAS_OPEN = "egress was open"
_OPEN = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
_HTTPS = _OPEN | {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}


def handler(event: Any, context: Any) -> None:
    """Answer CloudFormation in every case, or it waits until the resource's time-out."""
    asked = event["ResourceProperties"]
    answer, reason = cfnresponse.SUCCESS, None
    try:
        _until_done(_release if event["RequestType"] == "Delete" else _supply, asked)
    except Exception as error:
        logging.exception("cannot change the rules")
        answer, reason = cfnresponse.FAILED, str(error)
    cfnresponse.send(event, context, answer, {}, asked["GroupId"], reason=reason)


def _until_done(change: Any, asked: Any) -> None:
    group = boto3.resource("ec2").SecurityGroup(asked["GroupId"])
    ec2, of_group = group.meta.client, [{"Name": "group-id", "Values": [group.id]}]
    # Again, if another stack was faster, or the role does not count everywhere yet.
    for pause in (2, 4, 8, None):
        try:
            found = ec2.describe_security_group_rules(Filters=of_group, MaxResults=1000)
            for rule in change(ec2, group, found["SecurityGroupRules"], asked):
                revoke = group.revoke_egress if rule["IsEgress"] else group.revoke_ingress
                revoke(SecurityGroupRuleIds=_ids(rule))
            return
        except ClientError:
            if pause is None:
                raise
            time.sleep(pause)


def _supply(ec2: Any, group: Any, rules: Any, asked: Any) -> Any:
    close = asked["CloseEgress"] == "true"
    opens = [rule for rule in rules if close and _allows(rule, True, _OPEN)]
    tags = [{"Key": asked["Tag"], "Value": _WAS_OPEN if opens else ""}]
    new = [{"ResourceType": "security-group-rule", "Tags": tags}]
    itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group.id}]}
    for egress, need in ((False, itself), (True, itself), (True, _HTTPS)):
        present = [rule for rule in rules if rule not in opens and _allows(rule, egress, need)]
        if not present:
            authorize = group.authorize_egress if egress else group.authorize_ingress
            authorize(IpPermissions=[need], TagSpecifications=new)
        for rule in present:
            if _users(rule) and asked["Tag"] not in _users(rule):
                ec2.create_tags(Resources=_ids(rule), Tags=tags)
    return opens


def _release(ec2: Any, group: Any, rules: Any, asked: Any) -> Any:
    tag = asked["Tag"]
    mine = [rule for rule in rules if tag in _users(rule)]
    was_open = any({"Key": tag, "Value": _WAS_OPEN} in rule["Tags"] for rule in mine)
    if was_open and not any(_allows(rule, True, _OPEN) for rule in rules):
        group.authorize_egress(IpPermissions=[_OPEN])
    for rule in mine:
        if len(_users(rule)) > 1:
            ec2.delete_tags(Resources=_ids(rule), Tags=[{"Key": tag}])
    return [rule for rule in mine if len(_users(rule)) == 1]


def _allows(rule: Any, egress: bool, need: Any) -> Any:
    peer = {"GroupId": rule.get("ReferencedGroupInfo", {}).get("GroupId")}
    if rule["IsEgress"] != egress or not (
        rule.get("CidrIpv4") == "0.0.0.0/0" or peer in need.get("UserIdGroupPairs", [])
    ):
        return False
    tcp = need["IpProtocol"] == rule["IpProtocol"] and rule["FromPort"] <= 443 <= rule["ToPort"]
    return tcp or rule["IpProtocol"] == "-1"


def _users(rule: Any) -> list[str]:
    keys = [tag["Key"] for tag in rule.get("Tags", [])]
    return [key for key in keys if key.startswith("trainshed:needed-by:")]


def _ids(rule: Any) -> list[str]:
    return [rule["SecurityGroupRuleId"]]
