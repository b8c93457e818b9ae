"""What job definitions have in common: what a container gets, and when a job is tried again."""

from aws_cdk import Aws
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs

from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.nodes.folders import SPOT
from trainshed.plan import ContainerPlan

_Job = batch.CfnJobDefinition

# awsome-distributed-training's AWS Batch templates; memlock is the one that EFA needs, to pin the
# memory that the device reads and writes.
_ULIMITS = {"memlock": -1, "nofile": 1_024_000, "stack": 67_108_864}


def job_container(
    *,
    container: ContainerPlan,
    image_uri: str,
    job_role: iam.IRole,
    log_group: logs.ILogGroup,
    instance_type: str | None = None,
) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
    """Return the container of a job on one node; see `BatchCluster`.

    Args:
        container: what it gets.
        image_uri: its image.
        job_role: its role.
        log_group: its output.
        instance_type: of the nodes of a multi-node job; other jobs name none.
    """
    region = Aws.REGION
    # ECS tells containers on EC2 none, and SDKs, the AWS CLI and trainshed-launch need one.
    environment = {
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        **container.environment,
    }
    requirements = {"VCPU": container.vcpus, "MEMORY": container.memory_mib, "GPU": container.gpus}
    return _Job.ContainerPropertiesProperty(
        image=image_uri,
        instance_type=instance_type,
        job_role_arn=job_role.role_arn,
        # Never privileged: EFA and Neuron need their device files only; Gaudi's come from the
        # habana runtime, the default one on its AMI; NVIDIA's from the GPU requirement.
        privileged=False,
        resource_requirements=[
            _Job.ResourceRequirementProperty(type=kind, value=str(value))
            for kind, value in requirements.items()
            if value
        ],
        environment=[
            _Job.EnvironmentProperty(name=name, value=value)
            for name, value in sorted(environment.items())
        ],
        linux_parameters=_Job.LinuxParametersProperty(
            devices=[
                _Job.DeviceProperty(
                    host_path=path,
                    container_path=path,
                    permissions=["READ", "WRITE", "MKNOD"],
                )
                for path in container.devices
            ],
            shared_memory_size=container.shared_memory_mib,
        ),
        ulimits=[
            _Job.UlimitProperty(name=name, soft_limit=limit, hard_limit=limit)
            for name, limit in _ULIMITS.items()
        ],
        log_configuration=_Job.LogConfigurationProperty(
            log_driver="awslogs",
            # No mode: AWS Batch's guide lists none, and ECS's default is non-blocking since June
            # 2025, so training goes on while CloudWatch Logs does not answer.
            options={
                "awslogs-group": log_group.log_group_name,
                "awslogs-region": region,
                "awslogs-stream-prefix": "job",
            },
        ),
        volumes=[
            _Job.VolumesProperty(name=name, host=_Job.VolumesHostProperty(source_path=path))
            for name, path in container.folders.items()
        ]
        or None,
        mount_points=[
            _Job.MountPointsProperty(
                source_volume=name,
                container_path=path,
                # Jobs read EC2's notices, and write none.
                read_only=path == SPOT,
            )
            for name, path in container.folders.items()
        ]
        or None,
    )


def retries(attempts: int) -> batch.CfnJobDefinition.RetryStrategyProperty:
    """Try again when a node failed, and in no other case.

    AWS Batch user guide, "Automated job retries": at most five conditions, the first that matches
    decides, and a job that none matches is tried again, hence the last one. Of a multi-node
    parallel job only the main node's end counts: when another node is lost, its container has to
    notice and to end with `PEER_LOST`, as on a node on Spot that EC2 takes back.
    """
    conditions = [
        # "Host EC2 (instance i-...) terminated."
        _Job.EvaluateOnExitProperty(on_status_reason="Host EC2*", action="RETRY"),
        # Also when the image could not be pulled, for instance because many nodes that pull at
        # once met the registry's limits: the reason is then "CannotPullContainerError: ...".
        _Job.EvaluateOnExitProperty(on_status_reason="Task failed to start", action="RETRY"),
        _Job.EvaluateOnExitProperty(on_reason="AGENT", action="RETRY"),
        _Job.EvaluateOnExitProperty(on_exit_code=str(PEER_LOST), action="RETRY"),
        _Job.EvaluateOnExitProperty(on_reason="*", action="EXIT"),
    ]
    return _Job.RetryStrategyProperty(attempts=attempts, evaluate_on_exit=conditions)
