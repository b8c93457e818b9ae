"""What is noise in a template, and what is not."""

from typing import Any

from embedded_aws.template_snapshot import normalise

HASH, OTHER = "a1" * 32, "b2" * 32


def template(account: str, asset: str, path: str) -> dict[str, Any]:
    return {
        "Resources": {
            "Function": {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "Code": {
                        "S3Bucket": f"cdk-hnb659fds-assets-{account}-us-west-2",
                        "S3Key": f"{asset}.zip",
                    },
                    "Role": f"arn:aws:iam::{account}:role/train",
                },
                "Metadata": {"aws:cdk:path": path, "aws:asset:path": f"asset.{asset}"},
            },
            "CDKMetadata": {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": path}},
        },
        "Parameters": {"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>"}},
        "Rules": {"CheckBootstrapVersion": {"Assertions": []}},
    }


def test_account_asset_and_construct_paths_make_no_difference() -> None:
    here = normalise(template("111111111111", HASH, "A/Function"))
    there = normalise(template("222222222222", OTHER, "B/Function"))

    assert here == there
    assert here == {
        "Resources": {
            "Function": {
                "Properties": {
                    "Code": {
                        "S3Bucket": "cdk-hnb659fds-assets-<account>-us-west-2",
                        "S3Key": "<asset-1>.zip",
                    },
                    "Role": "arn:aws:iam::<account>:role/train",
                },
                "Type": "AWS::Lambda::Function",
            }
        }
    }


def test_two_assets_stay_two() -> None:
    code = {"Resources": {"A": {"Properties": [HASH, OTHER, HASH]}}}

    assert normalise(code)["Resources"]["A"]["Properties"] == [
        "<asset-1>",
        "<asset-2>",
        "<asset-1>",
    ]


def test_accounts_of_others_are_facts() -> None:
    image = {"Resources": {"A": {"Properties": "763104351884.dkr.ecr.us-west-2.amazonaws.com"}}}

    assert normalise(image, accounts=["123456789012"]) == image


def test_a_given_account_is_hidden_where_it_stands_alone() -> None:
    body = {"Outputs": {"A": {"Value": "123456789012 and 1234567890123"}}}

    hidden = normalise(body, accounts=["123456789012"])

    assert hidden["Outputs"]["A"]["Value"] == "<account> and 1234567890123"


def test_other_metadata_and_parameters_stay() -> None:
    body = {
        "Parameters": {"Image": {"Type": "String"}},
        "Resources": {"A": {"Type": "T", "Metadata": {"cdk_nag": {"rules": []}}}},
    }

    assert normalise(body) == body


def test_the_template_itself_is_not_changed() -> None:
    original = template("111111111111", HASH, "A")

    normalise(original)

    assert original == template("111111111111", HASH, "A")
