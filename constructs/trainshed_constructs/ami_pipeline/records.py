"""What builds leave behind: their logs and reports, encrypted with one key."""

from aws_cdk import Acknowledgment, Aws, RemovalPolicy, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct


class BuildRecords(Construct):
    """Key, log group and bucket of reports.

    Logs go after three months, and with the stack. Reports, with the software bill of materials
    of each AMI, outlive it, as AMIs do, and so does the key that reads them.

    Attributes:
        key: the KMS key; others may use it, too.
        log_group: of the builds.
        reports: bucket of the reports.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, kms_key_arn: str | None = None
    ) -> None:
        """Declare them.

        Args:
            scope: parent.
            construct_id: id within the parent.
            kms_key_arn: key to use; by default a new one. CDK cannot change the policy of a key
                that exists, so what a new key's policy says has to be in it already.
        """
        super().__init__(scope, construct_id)
        self.key: kms.IKey = (
            kms.Key.from_key_arn(self, "Key", kms_key_arn)
            if kms_key_arn
            else kms.Key(
                self,
                "Key",
                description="Logs, reports and messages of AMI builds",
                enable_key_rotation=True,
            )
        )
        # CloudWatch Logs tries the key when the group is made.
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Logs",
                principals=[iam.ServicePrincipal(f"logs.{Aws.REGION}.amazonaws.com")],
                actions=["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={
                    "ArnLike": {
                        "kms:EncryptionContext:aws:logs:arn": f"arn:{Aws.PARTITION}:logs:"
                        f"{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:*"
                    }
                },
            )
        )
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            encryption_key=self.key,
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.reports = s3.Bucket(
            self,
            "Reports",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            versioned=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        Validations.of(self.reports.node.find_child("Resource")).acknowledge(
            Acknowledgment(
                id="AwsSolutions-S1",
                reason="reports of builds: where it matters who reads them, CloudTrail's data "
                "events show it, without a second bucket that would need the same",
            )
        )

    def write_statements(self) -> list[iam.PolicyStatement]:
        """Return what a build needs to write its log and its report.

        Follows CodeBuild's user guide, "Create a CodeBuild service role" and "Encrypt build
        outputs".
        """
        return [
            iam.PolicyStatement(
                sid="WriteLog",
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[self.log_group.log_group_arn],
            ),
            iam.PolicyStatement(
                sid="KeepReports",
                actions=["s3:PutObject"],
                resources=[self.reports.arn_for_objects("*")],
            ),
            iam.PolicyStatement(
                sid="FindBucket",
                actions=["s3:GetBucketAcl", "s3:GetBucketLocation"],
                resources=[self.reports.bucket_arn],
            ),
            iam.PolicyStatement(
                sid="EncryptReports",
                actions=[
                    "kms:Decrypt",
                    "kms:DescribeKey",
                    "kms:Encrypt",
                    "kms:GenerateDataKey",
                    "kms:ReEncryptFrom",
                    "kms:ReEncryptTo",
                ],
                resources=[self.key.key_arn],
            ),
        ]

    def write_wildcards(self) -> dict[str, str]:
        """Return why `write_statements` have a wildcard, by the resource as cdk-nag names it."""
        bucket = Stack.of(self).resolve(self.reports.bucket_arn)["Fn::GetAtt"][0]
        return {f"<{bucket}.Arn>/*": "each build puts its reports into a folder of its own"}
