"""What makes a machine fast and steady: kernel arguments, clock source, clocks of GPUs."""

import json
from pathlib import Path

import pytest
from node_root import NodeRoot, needs_namespaces

pytestmark = needs_namespaces

ARGUMENTS = ("clocksource=tsc", "tsc=reliable", "intel_idle.max_cstate=1", "processor.max_cstate=1")
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
# As nvidia-smi answers: what it lists is in /gpus/N, pairs of MHz in any order; a pair that is not
# listed is refused; a GPU without application clocks makes it warn and exit with 0.
NVIDIA_SMI = r"""
case $1 in --query-gpu=index) ls /gpus; exit ;; esac
gpu=${1#--id=}
case $2 in
  --query-supported-clocks=memory,graphics) cat "/gpus/$gpu" ;;
  --applications-clocks=*)
    pair=${2#*=}
    if [ "$(cat "/gpus/$gpu")" = "[N/A]" ] || [ -e "/fixed/$gpu" ]; then
      echo "Setting applications clocks is not supported for GPU $gpu."
      echo "Treating as warning and moving on."
    elif grep -qx "${pair%,*}, ${pair#*,}" "/gpus/$gpu"; then
      echo "Applications clocks set to \"(MEM ${pair%,*}, SM ${pair#*,})\" for GPU $gpu"
      echo "$pair" >"/set-$gpu"
    else
      echo "Specified clock combination \"($pair)\" is not supported." >&2; exit 2
    fi ;;
  *) echo "Invalid combination of input arguments" >&2; exit 6 ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> NodeRoot:
    made = NodeRoot.make(
        tmp_path,
        devices='mount -t tmpfs none "$1/dev"; touch "$1/dev/null"\n'
        'mount --bind /dev/null "$1/dev/null"',
    )
    base = "amazon-linux-2023"
    made.pin(recipe={"accelerator": "nvidia", "base": base})
    made.command("systemd-detect-virt", "exit 1")
    made.command("nvidia-smi", NVIDIA_SMI)
    return made


def with_command_line(machine: NodeRoot, *arguments: str) -> NodeRoot:
    machine.write("cmdline", " ".join(("BOOT_IMAGE=/vmlinuz", "root=LABEL=/", *arguments)) + "\n")
    hide = 'mount --bind "$1/cmdline" "$1/proc/cmdline"'
    return NodeRoot(path=machine.path, devices=f"{machine.devices}\n{hide}")


def tuning(machine: NodeRoot) -> dict[str, dict[str, str]]:
    done = machine.program("selftest", "--json")
    names = ("kernel argument", "clock source", "GPU clocks")
    results = json.loads(done.stdout)["components"]
    return {each["name"]: each for each in results if each["name"].startswith(names)}


def states(machine: NodeRoot) -> dict[str, str]:
    return {name: each["state"] for name, each in tuning(machine).items()}


def test_a_kernel_with_all_arguments_passes(machine: NodeRoot) -> None:
    machine = with_command_line(machine, *ARGUMENTS)
    machine.write(CLOCK, "tsc\n")

    found = states(machine)

    assert len(found) == len(ARGUMENTS) + 2
    assert found.pop("GPU clocks") == "unchecked"
    assert set(found.values()) == {"ok"}


@pytest.mark.parametrize("missing", ARGUMENTS)
def test_a_kernel_without_one_of_them_fails(machine: NodeRoot, missing: str) -> None:
    rest = [argument for argument in ARGUMENTS if argument != missing]
    machine = with_command_line(machine, *rest, f"not-{missing}")

    results = tuning(machine)

    failed = {name: each["detail"] for name, each in results.items() if each["state"] == "failed"}
    name = f"kernel argument {missing.partition('=')[0]}"
    assert failed == {name: f"the kernel was booted without {missing}"}


def test_another_clock_source_fails(machine: NodeRoot) -> None:
    machine = with_command_line(machine, *ARGUMENTS)
    machine.write(CLOCK, "xen\n")

    result = tuning(machine)["clock source"]

    assert (result["state"], result["version"], result["expected"]) == ("failed", "xen", "tsc")


def test_a_container_says_nothing_of_its_hosts_kernel(machine: NodeRoot) -> None:
    machine.command("systemd-detect-virt", "echo systemd-nspawn")
    machine.write(CLOCK, "xen\n")

    assert set(states(machine).values()) == {"unchecked"}


@pytest.mark.parametrize(("active", "state"), [("active", "ok"), ("failed", "failed")])
def test_a_gpu_whose_clocks_were_not_set_fails(machine: NodeRoot, active: str, state: str) -> None:
    made = NodeRoot(path=machine.path, devices=f'{machine.devices}; touch "$1/dev/nvidia0"')
    made.command("systemctl", f"echo {active}")

    assert tuning(made)["GPU clocks"]["state"] == state


def test_each_gpu_gets_the_highest_clocks_of_its_own_list(machine: NodeRoot) -> None:
    machine.write("gpus/0", "1215, 1410\n1215, 210\n405, 1410\n")
    machine.write("gpus/1", "405, 345\n2619, 1965\n2619, 1980\n")

    done = machine.program("gpu-clocks")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "GPU 0: memory 1215 MHz, graphics 1410 MHz",
        "GPU 1: memory 2619 MHz, graphics 1980 MHz",
    ]
    assert (machine.path / "set-0").read_text() == "1215,1410\n"
    assert (machine.path / "set-1").read_text() == "2619,1980\n"


def test_a_gpu_without_application_clocks_is_left_alone(machine: NodeRoot) -> None:
    machine.write("gpus/0", "[N/A]\n")
    machine.write("gpus/1", "2619, 1980\n")
    machine.write("fixed/1")

    done = machine.program("gpu-clocks")

    assert done.returncode == 0
    left = "has no application clocks, left as it is"
    assert done.stdout.splitlines() == [f"GPU 0: {left}", f"GPU 1: {left}"]


def test_a_driver_that_does_not_answer_is_one_line(machine: NodeRoot) -> None:
    machine.command("nvidia-smi", "echo 'No devices were found' >&2; exit 6")

    done = machine.program("gpu-clocks")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("trainshed: ERROR: gpu-clocks: nvidia-smi --query-gpu=index")
    assert "No devices were found" in line
