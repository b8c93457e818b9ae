"""Recipes: the command of each, for every instance type that it is for."""

import shlex

import pytest

from trainshed.catalogue import AcceleratorFamily, all_types, lookup
from trainshed.errors import TrainshedError
from trainshed.jobs.submission import LAUNCHER
from trainshed.ready_jobs import JobNodes, ReadyJob, find_ready_job, ready_jobs, ready_jobs_for
from trainshed.ready_jobs.model import Kind

ALL = [
    pytest.param(ready_job, instance_type, id=f"{ready_job.name}-{instance_type}")
    for instance_type in all_types()
    for ready_job in ready_jobs_for(lookup(instance_type))
]


def command(
    name: str, instance_type: str, nodes: int, shared_folder: str | None = None, **given: str
) -> str:
    instance = lookup(instance_type)
    ready_job = find_ready_job(name, instance)
    job_nodes = JobNodes(instance=instance, count=nodes, shared_folder=shared_folder)
    return shlex.join(ready_job.work(job_nodes, ready_job.read(given)).command)


@pytest.mark.parametrize(("ready_job", "instance_type"), ALL)
def test_every_type_gets_the_ranks_that_it_has(ready_job: ReadyJob, instance_type: str) -> None:
    instance = lookup(instance_type)
    ranks = instance.accelerator.ranks

    # As far as a published number of sequences in a step can be shared.
    given = {name: str(64 * ranks) for name in ("global_batch",) if name in ready_job.read({})}
    work = ready_job.work(
        JobNodes(instance=instance, count=1, shared_folder="/fsx"), ready_job.read(given)
    )

    assert work.command[0] == LAUNCHER
    words = set(shlex.split(" ".join(work.command)))
    assert str(ranks) in words
    if ready_job.name == "collectives" and instance.efa_interfaces_max:
        several = ready_job.work(JobNodes(instance=instance, count=3), ready_job.read({}))
        assert str(3 * ranks) in shlex.split(" ".join(several.command))


def test_hccl_demo_runs_on_each_node_by_its_number() -> None:
    found = command("collectives", "dl1.24xlarge", 4, operation="all_gather", iterations="20")

    assert found == (
        "trainshed-launch sh -exc 'cd /opt/hccl_demo; export HCCL_COMM_ID=$MASTER_ADDR:$MASTER_PORT"
        "; python3 -u run_hccl_demo.py --nranks 32 --ranks_per_node 8 --node_id $NODE_RANK "
        "--test all_gather --size_range 1048576 33554432 --loop 20; exit'"
    )


def test_nccom_test_runs_on_the_main_node_with_the_addresses_of_all() -> None:
    assert command("collectives", "trn1.32xlarge", 2) == (
        "trainshed-launch sh -exc '[ $NODE_RANK = 0 ] || exit 0; "
        "export NEURON_RT_ROOT_COMM_ID=$MASTER_ADDR:$MASTER_PORT; "
        "nccom-test -r 64 -N 2 -b 8 -e 1073741824 -f 2 -n 50 -w 5 -d fp32 --non-interactive "
        "all_reduce --hosts $TRAINSHED_ADDRESSES'"
    )


def test_nccom_test_on_one_node_needs_no_addresses() -> None:
    found = command("collectives", "trn1.2xlarge", 1)

    assert "nccom-test -r 2 -b 8 " in found
    assert "-N" not in found and "--hosts" not in found


def test_nccl_tests_get_a_process_for_each_gpu() -> None:
    found = command("collectives", "p5.48xlarge", 16, min_bytes="64K")

    assert found.startswith("trainshed-launch --processes 8 mpirun -n 128 -N 8 ")
    assert found.endswith(" all_reduce_perf -b 65536 -e 1073741824 -f 2 -g 1 -c 1 -n 100")


def test_nccl_says_in_the_log_whether_it_uses_efa() -> None:
    instance = lookup("p5.48xlarge")
    ready_job = find_ready_job("collectives", instance)

    work = ready_job.work(JobNodes(instance=instance, count=2), ready_job.read({}))

    assert work.environment == {"NCCL_DEBUG": "INFO"}


def test_health_of_nodes_with_efa_asks_nccl_which_network_it_uses() -> None:
    found = command("health", "p5.48xlarge", 2)

    assert found.startswith("trainshed-launch --keep-going timeout 10m bash -eo pipefail -c ")
    assert "all_reduce_perf -b 8 -e 134217728 -f 2 -g 8 2>&1 | tee" in found


@pytest.mark.parametrize(
    ("instance_type", "benchmark"),
    [
        ("dl1.24xlarge", "--nranks 8 --ranks_per_node 8 --node_id 0 "),
        ("trn2.48xlarge", "nccom-test -r 64 "),
        ("g5.xlarge", "all_reduce_perf -b 8 -e 134217728 -f 2 -g 1"),
    ],
)
def test_health_runs_on_each_node_by_itself(instance_type: str, benchmark: str) -> None:
    found = command("health", instance_type, 4, minutes="3")

    assert found.startswith("trainshed-launch --keep-going timeout 3m sh -exc ")
    assert benchmark in found


def test_the_ready_jobs_of_a_maker_have_one_name_each() -> None:
    found = [(ready_job.name, ready_job.family) for ready_job in ready_jobs()]

    assert len(found) == len(set(found))
    for ready_job in ready_jobs():
        assert ready_job.what[-1] != "."
        ready_job.read({})
        for parameter in ready_job.parameters:
            assert parameter.source
            assert bool(parameter.choices) == (parameter.kind is Kind.CHOICE)


def test_each_maker_that_has_a_benchmark_has_collectives_and_health() -> None:
    for family in set(AcceleratorFamily) - {AcceleratorFamily.QUALCOMM}:
        named = {ready_job.name for ready_job in ready_jobs() if ready_job.family is family}
        assert named >= {"collectives", "health"}
    assert ready_jobs_for(lookup("dl2q.24xlarge")) == ()


@pytest.mark.parametrize(
    ("name", "instance_type", "given", "message"),
    [
        pytest.param(
            *("colectives", "dl1.24xlarge", {}),
            "ready job 'colectives' is not known; did you mean collectives?",
            id="ready-job",
        ),
        pytest.param(
            *("health", "dl2q.24xlarge", {}),
            r"ready job health does not run on dl2q.24xlarge: it is for habana, neuron, nvidia, "
            r"and the type has Qualcomm AI100 \(those that do: none\)",
            id="maker",
        ),
        pytest.param(
            *("collectives", "inf1.24xlarge", {}),
            "does not run on inf1.24xlarge: nccom-test is not for the first Inferentia",
            id="accelerator",
        ),
        pytest.param(
            *("collectives", "dl1.24xlarge", {"max_byte": "1G"}),
            "parameter of ready job collectives 'max_byte' is not known; did you mean max_bytes?",
            id="parameter",
        ),
        pytest.param(
            *("collectives", "dl1.24xlarge", {"operation": "allreduce"}),
            "operation 'allreduce' is not known; did you mean all_reduce?",
            id="choice",
        ),
        pytest.param(
            *("collectives", "dl1.24xlarge", {"max_bytes": "1T"}),
            "max_bytes=1T: write bytes, for instance 8, 64K or 1G",
            id="size",
        ),
        pytest.param(
            *("collectives", "dl1.24xlarge", {"max_bytes": "0"}),
            "max_bytes=0: write bytes",
            id="no-size",
        ),
        pytest.param(
            *("collectives", "dl1.24xlarge", {"min_bytes": "1G"}),
            "min_bytes is 1073741824 bytes, more than max_bytes, 33554432",
            id="sizes",
        ),
        pytest.param(
            *("health", "dl1.24xlarge", {"minutes": "1.5"}),
            "minutes=1.5: write a whole number from 1",
            id="number",
        ),
        pytest.param(
            *("bert-1.5b", "dl1.24xlarge", {"learning_rate": "1.5"}),
            "learning_rate=1.5: write a number below 1, for instance 0.0015, or published",
            id="rate",
        ),
    ],
)
def test_what_is_wrong_is_reported(
    name: str, instance_type: str, given: dict[str, str], message: str
) -> None:
    with pytest.raises(TrainshedError, match=message):
        command(name, instance_type, 1, **given)


@pytest.mark.parametrize(
    ("name", "instance_type", "nodes", "expected"),
    [
        pytest.param(
            *("bert-1.5b", "dl1.24xlarge", 16),
            "trainshed-launch torchrun --nproc-per-node 8 bert/train.py --zero 1 "
            "--sequence-length 128 --model 1.5b --micro-batch 16 --accumulation 24 "
            "--learning-rate 0.003 --steps 155000 --data synthetic "
            "--checkpoint /fsx/checkpoints/bert-1.5b --checkpoint-every 200 --keep 2 --seed 12439",
            id="1.5b",
        ),
        pytest.param(
            *("bert-5b", "dl1.24xlarge", 16),
            "trainshed-launch torchrun --nproc-per-node 8 bert/train.py --zero 2 "
            "--sequence-length 128 --model 5b --micro-batch 24 --accumulation 4 "
            "--steps 75000 --data synthetic --checkpoint /fsx/checkpoints/bert-5b "
            "--checkpoint-every 200 --keep 2 --seed 12439",
            id="5b",
        ),
        pytest.param(
            *("bert-340m", "trn1.32xlarge", 4),
            "trainshed-launch torchrun --nproc-per-node 32 bert/train.py --zero 0 "
            "--sequence-length 128 --model 340m --micro-batch 16 --accumulation 8 "
            "--steps 28125 --data synthetic --checkpoint /fsx/checkpoints/bert-340m "
            "--checkpoint-every 200 --keep 2 --seed 12439",
            id="trainium",
        ),
    ],
)
def test_a_training_has_the_published_settings(
    name: str, instance_type: str, nodes: int, expected: str
) -> None:
    assert command(name, instance_type, nodes, "/fsx") == expected


def test_a_published_global_batch_is_that_of_any_number_of_nodes() -> None:
    # 65536 sequences, 64 at once on each of 8 Gaudis.
    for nodes, accumulation in ((1, 128), (2, 64), (8, 16)):
        assert f"--accumulation {accumulation} " in command(
            "bert-340m", "dl1.24xlarge", nodes, "/fsx"
        )
    with pytest.raises(
        TrainshedError,
        match="global_batch 65536 is not a multiple of 1536, which is micro_batch 64 on",
    ):
        command("bert-340m", "dl1.24xlarge", 3, "/fsx")


def test_folders_may_be_on_the_file_system_or_elsewhere() -> None:
    found = command(
        *("bert-1.5b", "dl1.24xlarge", 1, "/fsx"), data="SHARED/wiki", checkpoint="/scratch/SHARED"
    )

    assert "--data /fsx/wiki --checkpoint /scratch/SHARED " in found


def test_checkpoints_need_a_folder_that_all_nodes_share() -> None:
    with pytest.raises(TrainshedError, match="the cluster has no file system; add storage"):
        command("bert-1.5b", "dl1.24xlarge", 1)
    with pytest.raises(TrainshedError, match="checkpoint=: the value is empty"):
        command("bert-1.5b", "dl1.24xlarge", 1, checkpoint="")


@pytest.mark.parametrize(
    "ready_job", [each for each in ready_jobs() if each.name.startswith("bert")]
)
def test_a_rehearsal_is_the_same_training_with_a_tiny_model(ready_job: ReadyJob) -> None:
    assert ready_job.rehearsal
    instance = lookup(
        "dl1.24xlarge" if ready_job.family is AcceleratorFamily.HABANA else "trn1.32xlarge"
    )
    job_nodes = JobNodes(instance=instance, count=1, shared_folder="/fsx")

    work = ready_job.work(job_nodes, ready_job.read({}))
    small = ready_job.rehearsal("/tmp/shared")

    assert work.files and small.files == work.files
    assert "bert/train.py" in work.files.names
    full = " ".join(work.command)
    zero = full[full.index("--zero") :].split()[1]
    assert " ".join(small.command) == (
        "trainshed-launch torchrun --nproc-per-node 2 bert/train.py "
        f"--zero {zero} --sequence-length 128 --model tiny --data synthetic "
        "--checkpoint /tmp/shared --checkpoint-every 5"
    )


def test_inferentia_does_not_train() -> None:
    with pytest.raises(TrainshedError, match="Inferentia does not train"):
        command("bert-340m", "inf2.48xlarge", 1, "/fsx")


@pytest.mark.parametrize(
    ("nodes", "given", "rate"),
    [
        (8, {}, "0.0015"),
        (15, {}, "0.0015"),
        (16, {}, "0.003"),
        (16, {"learning_rate": "published"}, "0.003"),
        (16, {"learning_rate": "0.002"}, "0.002"),
    ],
)
def test_the_learning_rate_is_that_which_was_published_on_so_many_nodes(
    nodes: int, given: dict[str, str], rate: str
) -> None:
    found = command("bert-1.5b", "dl1.24xlarge", nodes, "/fsx", **given)

    assert f" --learning-rate {rate} " in found
