"""Stand-ins for Lustre's network layer: modprobe, modinfo, lnetctl, lctl and the EFA devices.

LNet is a kernel module, so none of it can be had here. What the stand-ins refuse is what the real
commands refuse:

- FSx for Lustre user guide, "Configuring EFA clients": the order of the modules and commands,
  the device loop by driver name.
- Lustre manual, "LNet configuration": `lnetctl net show` and its YAML, `lnet configure` before
  any network, `/dev/lnet` that is missing while the modules are not loaded.
- A second `udsp add` answers errno 114, "Operation already in progress": a public set-up script
  tolerates it.
- Options of a module count when it is loaded, and never again (modprobe(8), modprobe.d(5)).
- Inferred: the words and numbers of the other errors.
"""

from collections.abc import Sequence

from node_root import NodeRoot

# What the stand-ins remember is under /run, as the kernel forgets it at a reboot, too.
_SHARED = """
import json, sys
from pathlib import Path
STATE = Path("/run/lnet.json")
state = json.loads(STATE.read_text()) if STATE.exists() else {
    "modules": {}, "configured": False, "nets": {}, "udsp": [], "discovery": None}
arguments = sys.argv[1:]
with open("/run/calls", "a") as calls:
    print(NAME, *arguments, file=calls)
def save():
    STATE.write_text(json.dumps(state))
def fail(words, code=1):
    sys.exit(print(words, file=sys.stderr) or code)
"""
_MODPROBE = """
NEEDS = {"kefalnd": ["efa", "lnet"], "ksocklnd": ["lnet"], "ptlrpc": ["lnet"], "lustre": ["ptlrpc"]}
def load(name, options):
    if not Path(f"/run/modules/{name}").exists():
        fail(f"modprobe: FATAL: Module {name} not found in directory /lib/modules/6.8.0-1-test")
    for needed in NEEDS.get(name, []):
        load(needed, {})
    if name in state["modules"]:
        return
    for path in sorted(Path("/run/modprobe.d").glob("*.conf")):
        for line in path.read_text().splitlines():
            word, module, *given = line.split()
            if word == "options" and module == name:
                options = dict(option.split("=") for option in given) | options
    state["modules"][name] = options
load(arguments[0], dict(option.split("=") for option in arguments[1:]))
save()
"""
_MODINFO = """
assert arguments[:2] == ["--field", "version"], arguments
path = Path(f"/run/modules/{arguments[2]}")
if not path.exists():
    fail(f"modinfo: ERROR: Module {arguments[2]} not found.")
print(path.read_text())
"""
_LNETCTL = """
def refuse(verb, number, words):
    print(f'{verb}:\\n    - net:\\n          errno: {number}\\n          descr: "{words}"')
    sys.exit(-number)
if "lnet" not in state["modules"]:
    fail("opening /dev/lnet failed: No such file or directory\\n"
         "hint: the kernel modules may not be loaded")
nets = state["nets"]
given = dict(zip(arguments[2::2], arguments[3::2]))
verb = " ".join(arguments[:2])
if verb == "lnet configure":
    state["configured"] = True
elif verb == "net show":
    print("net:")
    print("    - net type: lo\\n      local NI(s):\\n        - nid: 0@lo\\n          status: up")
    for net, interfaces in nets.items():
        print(f"    - net type: {net}\\n      local NI(s):")
        for number, interface in enumerate(interfaces):
            status = "down" if Path(f"/run/down/{interface}").exists() else "up"
            print(f"        - nid: 10.0.0.{number}@{net}\\n          status: {status}\\n"
                  f"          interfaces:\\n              0: {interface}")
elif verb == "net add":
    net, interface = given["--net"], given["--if"]
    if not state["configured"]:
        refuse("add", -100, "cannot add network: Network is down")
    if net == "efa":
        ip = state["modules"].get("kefalnd", {}).get("ipif_name")
        if not ip or not Path(f"/sys/class/net/{ip}").exists():
            refuse("add", -22, "cannot add network: Invalid argument")
        driver = Path(f"/sys/class/infiniband/{interface}/device/driver")
        known = driver.exists() and driver.resolve().name == "efa"
    else:
        known = Path(f"/sys/class/net/{interface}").exists()
    if not known:
        refuse("add", -19, "cannot add network: No such device")
    if interface in nets.get(net, []):
        refuse("add", -17, "cannot add network: File exists")
    nets.setdefault(net, []).append(interface)
elif verb == "net del":
    if given["--net"] not in nets:
        refuse("del", -22, "cannot del network: Invalid argument")
    del nets[given["--net"]]
elif verb == "set discovery":
    state["discovery"] = arguments[2]
elif verb == "udsp show":
    if state["udsp"]:
        print("udsp:")
    for number, rule in enumerate(state["udsp"]):
        print(f"    - idx: {number}\\n      src: {rule}\\n      action:\\n        priority: 0")
elif verb == "udsp add":
    if given["--src"] in state["udsp"]:
        fail("add:\\n    - udsp:\\n          errno: -114\\n"
             '          descr: "Operation already in progress"', 114)
    state["udsp"].append(given["--src"])
elif verb == "peer show":
    print("peer:\\n    - primary nid: 10.0.9.1@tcp\\n      peer ni:\\n        - nid: 10.0.9.1@tcp")
    if "efa" in nets and state["udsp"] and Path("/run/server-has-efa").exists():
        print("        - nid: 1.9.1.0@efa")
else:
    fail(f"lnetctl: unknown command {arguments}")
save()
"""
# Parameters are there once the file system is mounted.
_LCTL = """
mounts = Path("/proc/mounts").read_text()
if " /fsx " not in mounts:
    fail(f"error: set_param: param_path '{arguments[1]}': No such file or directory", 2)
"""
_ROUTES = (
    '[{"dst":"default","dev":"ens6","metric":600},{"dst":"default","dev":"ens5","metric":512}]'
)


def add_lnet(
    machine: NodeRoot,
    devices: Sequence[tuple[str, str, str]],
    *,
    efa: str | None = "3.0.0g",
    kefalnd: str | None = "1.2.2",
    cpus: int = 192,
    memory_gib: int = 2048,
) -> None:
    """Give a machine the Lustre client's kernel side, and InfiniBand devices.

    Args:
        machine: which.
        devices: name, PCI address and driver of each device.
        efa: version of the EFA driver; None without one.
        kefalnd: version of LNet's EFA driver; None without one.
        cpus: number of CPUs.
        memory_gib: memory.
    """
    for name, body in {
        "modprobe": _MODPROBE,
        "modinfo": _MODINFO,
        "lnetctl": _LNETCTL,
        "lctl": _LCTL,
    }.items():
        script = f"NAME = {name!r}{_SHARED}{body}"
        machine.write(f"opt/stand-ins/{name}.py", script)
        machine.command(name, f'exec python3 /opt/stand-ins/{name}.py "$@"')
    machine.command("ip", f"echo '{_ROUTES}'")
    pages = memory_gib * 1024 * 1024 // 4
    machine.command(
        "getconf",
        f"case $1 in _NPROCESSORS_ONLN) echo {cpus} ;; _PHYS_PAGES) echo {pages} ;; "
        "PAGE_SIZE) echo 4096 ;; esac",
    )
    versions = {"lnet": "2.15.6", "ksocklnd": "2.15.6", "ptlrpc": "2.15.6", "lustre": "2.15.6"}
    for module, version in {**versions, "efa": efa, "kefalnd": kefalnd}.items():
        if version is not None:
            machine.write(f"run/modules/{module}", version)
    for interface in ("ens5", "ens6"):
        (machine.path / "sys/class/net" / interface).mkdir(parents=True)
    for name, address, driver in devices:
        place = machine.path / "sys/devices/pci0000:00" / address
        place.mkdir(parents=True)
        drivers = machine.path / "sys/bus/pci/drivers" / driver
        drivers.mkdir(parents=True, exist_ok=True)
        (place / "driver").symlink_to(f"/sys/bus/pci/drivers/{driver}")
        folder = machine.path / "sys/class/infiniband" / name
        folder.mkdir(parents=True)
        (folder / "device").symlink_to(f"/sys/devices/pci0000:00/{address}")
