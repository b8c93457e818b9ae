"""Notifying people of how builds ended."""

from collections.abc import Sequence

from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from constructs import Construct

from trainshed_constructs.monitoring.topic import encrypted_topic, let_publish

# CodeBuild user guide, "Build notifications input format reference".
_ENDED = ["FAILED", "FAULT", "STOPPED", "SUCCEEDED", "TIMED_OUT"]


class BuildNotifications(Construct):
    """Encrypted SNS topic to which EventBridge sends how each build of some projects ended.

    Attributes:
        topic: the topic; subscribe more to it than e-mail addresses.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        project_names: Sequence[str],
        key: kms.IKey,
        addresses: Sequence[str],
    ) -> None:
        """Declare the topic and the rule.

        Args:
            scope: parent.
            construct_id: id within the parent.
            project_names: CodeBuild projects to listen to.
            key: encrypts messages; EventBridge is let use it, as it cannot AWS's own key for SNS.
            addresses: e-mail addresses; each confirms its subscription once.
        """
        super().__init__(scope, construct_id)
        self.topic = encrypted_topic(self, display_name="AMI builds", key=key, addresses=addresses)
        # L1: the L2 targets come in one module that loads every service which can be one.
        events.CfnRule(
            self,
            "Ended",
            description="A build of AMIs ended",
            event_pattern={
                "source": ["aws.codebuild"],
                "detail-type": ["CodeBuild Build State Change"],
                "detail": {"project-name": [*project_names], "build-status": _ENDED},
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id="Topic",
                    arn=self.topic.topic_arn,
                    input_transformer=events.CfnRule.InputTransformerProperty(
                        input_paths_map={
                            "project": "$.detail.project-name",
                            "status": "$.detail.build-status",
                            "log": "$.detail.additional-information.logs.deep-link",
                        },
                        input_template='"AMI build <project>: <status>. Log: <log>"',
                    ),
                )
            ],
        )
        let_publish(self.topic, key, sid="BuildsEnded", service="events.amazonaws.com")
