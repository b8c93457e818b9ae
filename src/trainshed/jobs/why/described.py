"""What `trainshed rule` says of the rules of `trainshed job why`."""

from trainshed.findings import Severity
from trainshed.findings.rule import describe

describe(
    "TS-JOB-002",
    command="job why",
    title="The job waits for another one, or failed with it",
    why="""
The job depends on others; an error when one of them has failed.

A job starts after those that it depends on, and fails with them.
""",
    remedy="`trainshed job why` of the other job",
)

describe(
    "TS-JOB-003",
    command="job why",
    title="The job queue is disabled or invalid",
    severity=Severity.ERROR,
    why="""
Its queue is disabled or invalid.

A queue gives its jobs to nodes when it is enabled and valid.
""",
    remedy="Enable it, or fix its compute environment",
)

describe(
    "TS-JOB-004",
    command="job why",
    title="A compute environment is disabled or invalid",
    severity=Severity.ERROR,
    why="""
The compute environment is disabled, for instance because too many nodes failed their first boot, or
invalid.

A compute environment launches nodes when it is enabled and valid.
""",
    remedy="Put right what its reason names, and enable it",
)

describe(
    "TS-JOB-005",
    command="job why",
    title="A compute environment is of a type that runs no multi-node jobs",
    severity=Severity.ERROR,
    why="""
The compute environment is of a type that runs no multi-node jobs, for instance SPOT.

AWS Batch runs multi-node parallel jobs on managed on-demand EC2 only.
""",
    remedy="A queue whose compute environments are of type EC2",
)

describe(
    "TS-JOB-006",
    command="job why",
    title="The job needs more vCPUs than the compute environment may have",
    severity=Severity.ERROR,
    why="""
The job needs more vCPUs than the compute environment may have.

The whole job must fit in one compute environment at once.
""",
    remedy="Fewer nodes, or a larger `instance.nodes.max`",
)

describe(
    "TS-JOB-007",
    command="job why",
    title="AWS Batch says why the job waits",
    severity=Severity.ERROR,
    why="""
AWS Batch itself says why the job waits; a warning when the reason is not one of its documented
ones.

AWS Batch says itself why the job at the head of a queue is stuck.
""",
    remedy="What the finding names for each reason",
)

describe(
    "TS-JOB-008",
    command="job why",
    title="Other jobs are before it in the queue",
    why="""
Other jobs are before it in the queue.

Jobs of a queue get nodes in their order, and one that cannot be placed blocks the rest.
""",
    remedy="Wait, or end one",
)

describe(
    "TS-JOB-009",
    command="job why",
    title="EC2 Auto Scaling could not launch nodes",
    severity=Severity.ERROR,
    why="""
EC2 Auto Scaling could not launch nodes; its message is quoted.

EC2 Auto Scaling knows why a launch failed, also where AWS Batch gives no reason.
""",
    remedy="What the finding names for each message",
)

describe(
    "TS-JOB-010",
    command="job why",
    title="The account's quota of on-demand vCPUs is smaller than the job",
    severity=Severity.ERROR,
    why="""
The account's quota of on-demand vCPUs is smaller than the job.

The whole job must fit in the account's quota at once; Capacity Blocks do not count.
""",
    remedy="Ask for a larger one, by the command that the finding names",
)

describe(
    "TS-JOB-011",
    command="job why",
    title="The reservation or Capacity Block is not open, too small or in use",
    severity=Severity.ERROR,
    why="""
The reservation or Capacity Block has not begun, is over, ends within 30 minutes, is too small or in
use.

Nodes of a reservation or a block are there between its start and its end.
""",
    remedy="Wait, fewer nodes, or another one",
)

describe(
    "TS-JOB-012",
    command="job why",
    title="Nodes failed their first boot",
    severity=Severity.ERROR,
    why="""
Nodes failed their first boot; what they signalled is quoted.

A node whose first boot fails says why, powers itself off and takes no job.
""",
    remedy="Programs of a node (docs/node-programs.md) says what they check",
)

describe(
    "TS-JOB-013",
    command="job why",
    title="Nodes have run for ten minutes, and have not joined ECS",
    severity=Severity.ERROR,
    why="""
Nodes run for ten minutes and have not joined ECS.

A node takes jobs after its ECS agent has joined the compute environment's cluster.
""",
    remedy="Check that their subnet reaches ECS, or what their boot waits for",
)

describe(
    "TS-JOB-014",
    command="job why",
    title="A container did not run",
    severity=Severity.ERROR,
    why="""
A container did not run: the image, its log group or the command is missing, or the memory is too
small.

A container that does not start ends the attempt, before anything is printed.
""",
    remedy="What the finding names for each reason",
)

describe(
    "TS-JOB-015",
    command="job why",
    title="A node ended with an exit code",
    severity=Severity.ERROR,
    why="""
A node ended with an exit code, which is explained, by the program or file that its last lines say
is missing.

The exit code of the main node's container is that of the launcher.
""",
    remedy="The node's log",
)

describe(
    "TS-JOB-016",
    command="job why",
    title="The host of a node ended",
    severity=Severity.ERROR,
    why="""
The host of a node ended.

The host of a node ended, which ends the node.
""",
    remedy="Have the job resume from a checkpoint",
)

describe(
    "TS-JOB-017",
    command="job why",
    title="An attempt took longer than its time-out",
    severity=Severity.ERROR,
    why="""
An attempt took longer than its time-out.

A job ends when an attempt takes longer than it may.
""",
    remedy="A longer `--timeout-hours` or `job.timeout_hours`",
)

describe(
    "TS-JOB-018",
    command="job why",
    title="The queue ended the job because it waited too long",
    severity=Severity.ERROR,
    why="""
The queue ended the job because it waited too long.

Somebody, or the queue, ended the job.
""",
    remedy="Fix what the reason names, and submit it again",
)

describe(
    "TS-JOB-019",
    command="job why",
    title="Somebody ended the job",
    severity=Severity.ERROR,
    why="""
Somebody ended the job; the reason is quoted.

Somebody, or the queue, ended the job.
""",
    remedy="Submit it again",
)

describe(
    "TS-JOB-020",
    command="job why",
    title="AWS refused a question about the job",
    why="""
AWS refused a question of `job why`, for instance for want of a permission.

What could not be asked may hide the reason.
""",
    remedy="The permissions that jobs (docs/jobs.md) lists",
)

describe(
    "TS-JOB-021",
    command="job why",
    title="A node did not get the job's command",
    severity=Severity.ERROR,
    why="""
A node of a cluster with orchestrator ec2 did not get the job's command.

A node whose agent does not answer, or that has ended, does not start its part.
""",
    remedy="It has ended, or its Systems Manager agent does not answer: terminate it, and "
    "submit again",
)

describe(
    "TS-JOB-030",
    command="job why",
    title="The containers of some nodes are not up",
    why="""
The containers of some nodes are not up: the nodes pull the image.

A node pulls the container image and unpacks it before its command starts.
""",
    remedy="Wait, or a smaller image",
)

describe(
    "TS-JOB-032",
    command="job why",
    title="The main node has printed nothing for half an hour",
    why="""
The main node of a job that runs has printed nothing for half an hour.

A training prints now and then; one that hangs prints nothing until its time-out.
""",
    remedy="Look at its last lines; if it hangs, end it",
)

describe(
    "TS-JOB-033",
    command="job why",
    title="Nodes of a job that waits are billed while EC2 lacks the others",
    why="""
Some nodes of a job that waits are there, and billed, while EC2 lacks the others; it says how many,
and their price an hour.

Nodes of a job that has not got all are billed while it waits; reserved ones are anyway.
""",
    remedy="End the job, or ask for fewer nodes; `job.capacity_wait_hours` limits the wait",
)
