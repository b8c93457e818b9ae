"""Types that only moto can make."""

from typing import Any


def test_a_type_of_motos_is_made_tagged_and_deleted(stack: Any) -> None:
    table = {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    }
    sections = {"Outputs": {"Arn": {"Value": {"Fn::GetAtt": ["T", "Arn"]}}}}
    dynamodb = stack.cloud.client("dynamodb")

    stack.create({"T": table}, sections=sections, Tags=[{"Key": "cost", "Value": "7"}])

    name = stack.physical_id("T")
    described = dynamodb.describe_table(TableName=name)["Table"]
    assert described["TableArn"] == stack.outputs["Arn"]
    tags = dynamodb.list_tags_of_resource(ResourceArn=described["TableArn"])["Tags"]
    assert tags == [{"Key": "cost", "Value": "7"}]
    assert stack.delete() == "DELETE_COMPLETE"
    assert name not in dynamodb.list_tables()["TableNames"]


def test_an_update_that_moto_can_do_is_done(stack: Any) -> None:
    def stream(hours: int) -> dict[str, Any]:
        properties = {"ShardCount": 1, "RetentionPeriodHours": hours}
        return {"Type": "AWS::Kinesis::Stream", "Properties": properties}

    stack.create({"S": stream(24)})
    name = stack.physical_id("S")

    assert stack.update({"S": stream(48)}) == "UPDATE_COMPLETE"

    found = stack.cloud.client("kinesis").describe_stream(StreamName=name)
    assert found["StreamDescription"]["RetentionPeriodHours"] == 48


def test_an_update_that_moto_cannot_do_fails_and_changes_nothing(stack: Any) -> None:
    def gateway(description: str) -> dict[str, Any]:
        return {"Type": "AWS::EC2::TransitGateway", "Properties": {"Description": description}}

    stack.create({"G": gateway("one")})

    assert stack.update({"G": gateway("other")}) == "UPDATE_ROLLBACK_COMPLETE"

    reason = stack.reason("G", "UPDATE_FAILED")
    assert "the embedded AWS cannot update a resource of type AWS::EC2::TransitGateway" in reason
    assert stack.resources["G"]["ResourceStatus"] == "UPDATE_COMPLETE"


def test_a_deletion_that_moto_cannot_do_fails(stack: Any) -> None:
    stack.create({"C": {"Type": "AWS::ECS::Cluster"}})

    assert stack.delete() == "DELETE_FAILED"

    assert "cannot delete a resource of type AWS::ECS::Cluster" in stack.reason(
        "C", "DELETE_FAILED"
    )


def test_what_is_gone_already_is_deleted(stack: Any) -> None:
    stack.create({"S": {"Type": "AWS::Kinesis::Stream", "Properties": {"ShardCount": 1}}})
    stack.cloud.client("kinesis").delete_stream(StreamName=stack.physical_id("S"))

    assert stack.delete() == "DELETE_COMPLETE"


def test_motos_refusal_is_the_reason(stack: Any) -> None:
    user = {"Type": "AWS::IAM::User", "Properties": {"UserName": stack.name}}
    stack.cloud.client("iam").create_user(UserName=stack.name)

    status = stack.create({"U": user}, Capabilities=["CAPABILITY_NAMED_IAM"])

    assert status == "ROLLBACK_COMPLETE"
    assert "HandlerErrorCode: AlreadyExists" in stack.reason("U", "CREATE_FAILED")


def test_a_property_that_only_moto_needs_is_named(stack: Any) -> None:
    stack.create({"G": {"Type": "AWS::EC2::TransitGateway"}})

    assert (
        "the embedded AWS makes a resource of type AWS::EC2::TransitGateway only with Description"
        in stack.reason("G", "CREATE_FAILED")
    )
