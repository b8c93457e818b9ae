"""The table of `trainshed top` on a terminal."""

import io
import json

from rich.console import Console

from trainshed.cli.top import _drawn, _node_row
from trainshed.jobs.nodes import Node
from trainshed.status.usage import AcceleratorUsage, EfaUsage, NodeUsage, _read

COLUMNS, LINES = 80, 24
NODES = tuple(
    Node(
        instance_id=f"i-{number:017x}",
        address="10.0.0.1",
        addresses=(),
        boot="ok",
        on_spot=False,
        drained=number == 3,
        reservation="",
    )
    for number in range(64)
)


def usage(node: Node, *, idle: float = 100, problem: str = "") -> NodeUsage:
    """What a node of eight GPUs does, of which one is less busy than the others."""
    return NodeUsage(
        instance_id=node.instance_id,
        accelerators=tuple(
            AcceleratorUsage(
                index=index,
                busy_percent=idle if index == 7 else 100,
                used_mib=70000,
                total_mib=80000,
                celsius=80 + index,
                watts=700,
                errors=0,
            )
            for index in range(8)
        ),
        efa=EfaUsage(
            devices=32,
            sent_per_second=188.1e9,
            received_per_second=187e9,
            dropped=0,
            retransmitted=12345,
            timeouts=0,
            faults=1,
        ),
        load=8,
        cpus=192,
        memory_used_mib=102400,
        memory_total_mib=2097152,
        problem=problem,
    )


def drawn(found: tuple[NodeUsage, ...], *, of_one: bool = False) -> list[str]:
    console = Console(width=COLUMNS, height=LINES, file=io.StringIO(), color_system=None)
    console.print(_drawn(NODES, found, of_one, LINES))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rstrip("\n").split("\n")


def test_many_nodes_fit_a_small_terminal_and_a_problem_is_among_them() -> None:
    late = "does not answer within 20 seconds"
    found = tuple(usage(node, idle=0, problem=late if node is NODES[40] else "") for node in NODES)

    lines = drawn(found)

    assert len(lines) < LINES
    assert max(map(len, lines)) <= COLUMNS
    head, first, *_ = lines
    assert head.split() == [
        *("#", "instance", "boot", "busy", "%", "mem", "%", "°C", "out", "in", "resent", "errors")
    ]
    assert first.split() == [
        *("0", NODES[0].instance_id, "ok", "88", "(0-100)", "88", "87", "188.10", "187.00"),
        *("12345", "1"),
    ]
    assert lines[-2] == f"40 {NODES[40].instance_id}: {late}"
    assert any(line.startswith(f"40 {NODES[40].instance_id} ok") for line in lines)
    assert lines[-1].endswith(f" UTC, 64 of 64 nodes; out, in: GB/s of EFA; and {64 - 20} more")


def test_a_drained_node_says_so() -> None:
    assert drawn((usage(NODES[3]),))[1].split()[:5] == [
        *("3", NODES[3].instance_id, "drained", "100", "88"),
    ]


def test_one_node_has_each_accelerator_and_what_is_of_all_of_them() -> None:
    head, *rest = drawn((usage(NODES[0], problem="nvidia-smi: lost"),), of_one=True)

    assert head.split() == ["#", "busy", "%", "memory,", "GiB", "°C", "W", "errors"]
    assert rest[7].split() == ["7", "100", "68.4", "of", "78", "87", "700", "0"]
    assert rest[8:11] == [
        "EFA, 32 devices: 188.10 GB/s out, 187.00 GB/s in, 12345 packets resent, 0 ",
        "time-outs, 0 dropped, 1 faults of peers",
        "load 8 on 192 processors, memory 100 of 2048 GiB",
    ]
    assert rest[11] == "problem: nvidia-smi: lost"


def test_a_node_whose_efa_does_not_answer_says_the_rest() -> None:
    said = {"seconds": 1.0, "load": 8, "cpus": 192, "memory": [1024, 2048], "efa": None}
    said |= {"accelerators": [[0, 97, 1, 2, 61, 512, 2]], "problem": "rdmap0: Input/output error"}
    command = {"ResponseCode": 0, "Output": json.dumps(said)}

    found = _read({"InstanceId": "i-1", "Status": "Success", "CommandPlugins": [command]})

    assert found.problem == "rdmap0: Input/output error"
    assert found.efa is None
    assert [each.busy_percent for each in found.accelerators] == [97]
    assert _node_row(0, NODES[0], found)["errors"] == "2"
