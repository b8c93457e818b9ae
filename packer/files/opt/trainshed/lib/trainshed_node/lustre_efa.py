"""Setting up LNet, Lustre's network layer, to reach a file system over EFA.

Follows FSx for Lustre's user guide, "Configuring EFA clients". LNet's settings last as long as the
boot, so this runs at each one, before the mount.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from trainshed_node.devices import wait_for_drivers
from trainshed_node.errors import NodeError
from trainshed_node.system import has_command, run

# LNet's driver for EFA.
KEFALND = "kefalnd"
_DEVICES = Path("/sys/class/infiniband")
_TYPE = Path("/sys/class/dmi/id/product_name")
# The least versions that AWS's own set-up of EFA clients takes; the second on P6 only.
_OLDEST_EFA = (2, 12, 1)
_OLDEST_KEFALND_ON_P6 = (1, 1, 1)
# The user guide's value. How CPUs are divided among the interfaces (libcfs cpu_npartitions) is left
# at Lustre's default: AWS documents no values.
_PEER_CREDITS = "32"
_BAKE = "use an AMI of `trainshed ami build` with a newer EFA installer and Lustre client"

Log = Callable[[str], None]


def set_up_efa(mount: str, wanted: int, log: Log) -> None:
    """Let LNet use EFA interfaces for data, and TCP for the first contact.

    Safe to run again: what LNet has already is left as it is.

    Args:
        mount: directory of the file system, for messages.
        wanted: how many EFA interfaces to use.
        log: writes a line.

    Raises:
        NodeError: the AMI lacks a driver, the node lacks interfaces, or LNet refused them.
    """
    if not has_command("lnetctl"):
        raise NodeError(mount, f"this AMI has no lnetctl to use EFA with; {_BAKE}")
    _check_version(mount, "efa", _OLDEST_EFA)
    oldest = _OLDEST_KEFALND_ON_P6 if _instance_type().startswith("p6") else ()
    _check_version(mount, KEFALND, oldest)
    devices = _spread(efa_devices(), wanted, mount)
    ip_interface = _default_route(mount)
    # kefalnd makes its addresses of that interface's. Later modules find LNet as it is here.
    for command in (("lnet",), (KEFALND, f"ipif_name={ip_interface}"), ("ksocklnd",)):
        _must(mount, "modprobe", *command)
    _must(mount, "lnetctl", "lnet", "configure")
    _add_networks(mount, ip_interface, devices)
    _must(mount, "lnetctl", "set", "discovery", "1")
    # Prefer EFA to TCP. Asked first, because LNet refuses a second rule ("already in progress").
    if "src: efa" not in _must(mount, "lnetctl", "udsp", "show"):
        _must(mount, "lnetctl", "udsp", "add", "--src", "efa", "--priority", "0")
    up = _interfaces(mount).get("efa", {})
    down = [device for device in devices if up.get(device) != "up"]
    if down:
        raise NodeError(mount, f"LNet has not started {', '.join(down)}; see the kernel's log")
    log(f"{mount}: LNet uses {ip_interface} and, over EFA, {', '.join(devices)}")


def tell_transport(mount: str, log: Log) -> None:
    """Say whether servers answer over EFA, once the file system is mounted.

    Lustre uses TCP without a word when they do not.
    """
    if "@efa" in run("lnetctl", "peer", "show").output:
        log(f"{mount}: its servers are reached over EFA")
    else:
        log(
            f"{mount}: WARNING: no server has answered over EFA yet, and TCP is used until one"
            " does; see `lnetctl peer show`, whether the file system is EFA-enabled, and whether"
            " its security group and the nodes' let all traffic through to each other"
        )


def efa_devices() -> list[str]:
    """Return the names of the EFA devices, in the order of their PCI addresses.

    The InfiniBand devices of other drivers are left out: P6 has some for NVLink.
    """
    wait_for_drivers()
    found = []
    for entry in _DEVICES.glob("*"):
        driver = entry / "device" / "driver"
        if driver.exists() and driver.resolve().name == "efa":
            found.append(((entry / "device").resolve().name, entry.name))
    return [name for _, name in sorted(found)]


def _spread(devices: list[str], wanted: int, mount: str) -> list[str]:
    """Choose devices at even distances: p5 has four on each PCI bus, and one of each is wanted."""
    if len(devices) < wanted:
        raise NodeError(
            mount,
            f"this node has {len(devices)} EFA devices and {wanted} are to be used; launch it with"
            " the network interfaces of its launch template, and see the kernel's log for efa",
        )
    return [devices[index * len(devices) // wanted] for index in range(wanted)]


def _default_route(mount: str) -> str:
    """Name the interface of the IPv4 default route with the lowest metric."""
    shown = _must(mount, "ip", "-json", "-4", "route", "show", "default")
    routes = json.loads(shown or "[]")
    if not routes:
        raise NodeError(mount, "this node has no default route; look at its network interfaces")
    return str(min(routes, key=lambda route: route.get("metric", 0))["dev"])


def _instance_type() -> str:
    return _TYPE.read_text(encoding="ascii").strip() if _TYPE.exists() else ""


def _check_version(mount: str, module: str, oldest: tuple[int, ...]) -> None:
    done = run("modinfo", "--field", "version", module)
    if not done.ok:
        raise NodeError(mount, f"this AMI has no kernel module {module} for EFA; {_BAKE}")
    version = done.output.strip()
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    if oldest and numbers < oldest:
        needed = ".".join(str(number) for number in oldest)
        shown = version or "of no version"
        raise NodeError(
            mount, f"kernel module {module} is {shown}, and EFA clients need {needed}; {_BAKE}"
        )


def _add_networks(mount: str, ip_interface: str, devices: list[str]) -> None:
    present = _interfaces(mount)
    # A module that was loaded earlier may have made a TCP network of other interfaces.
    if list(present.get("tcp", {})) != [ip_interface]:
        if "tcp" in present:
            _must(mount, "lnetctl", "net", "del", "--net", "tcp")
        _must(mount, "lnetctl", "net", "add", "--net", "tcp", "--if", ip_interface)
    for device in devices:
        if device not in present.get("efa", {}):
            add = ("net", "add", "--net", "efa", "--if", device, "--peer-credits", _PEER_CREDITS)
            _must(mount, "lnetctl", *add)


def _interfaces(mount: str) -> dict[str, dict[str, str]]:
    """Return each interface's status, by network, as `lnetctl net show` prints them in YAML."""
    found: dict[str, dict[str, str]] = {}
    network = status = ""
    for line in _must(mount, "lnetctl", "net", "show").splitlines():
        key, _, value = (part.strip() for part in line.strip().lstrip("- ").partition(":"))
        if key == "net type":
            network = value
        elif key == "status":
            status = value
        elif key.isdigit():
            found.setdefault(network, {})[value] = status
    return found


def _must(mount: str, *command: str) -> str:
    done = run(*command)
    if not done.ok:
        reason = " ".join(f"{done.errors} {done.output}".split()) or done.last_line
        raise NodeError(
            mount, f"`{' '.join(command)}` failed ({reason}); see the kernel's log for LNet"
        )
    return done.output
