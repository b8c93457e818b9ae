"""The client settings that FSx for Lustre recommends for large instances.

Follows its user guide, "Performance tips". Neither kind lasts longer than the boot.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trainshed_node.system import run

# More than these, and the tips apply.
_CPUS, _MEMORY_BYTES = 64, 64 * 1024**3
_MODULES = Path("/run/modprobe.d/trainshed-lustre.conf")
_MODULE_OPTIONS = "options ptlrpc ptlrpcd_per_cpt_max=32\noptions ksocklnd credits=2560\n"
_BY_CPUS = (
    "osc.*OST*.max_rpcs_in_flight=32",
    "mdc.*.max_rpcs_in_flight=64",
    "mdc.*.max_mod_rpcs_in_flight=50",
)

Log = Callable[[str], None]


def set_module_options() -> None:
    """Write the modules' options; before anything of Lustre is loaded, or they have no effect."""
    if _number("_NPROCESSORS_ONLN") > _CPUS:
        _MODULES.parent.mkdir(parents=True, exist_ok=True)
        _MODULES.write_text(_MODULE_OPTIONS, encoding="ascii")


def tune_client(mount: str, log: Log) -> None:
    """Set the parameters of what is mounted. A refusal is logged: Lustre works without."""
    cpus = _number("_NPROCESSORS_ONLN")
    settings = list(_BY_CPUS) if cpus > _CPUS else []
    if _number("_PHYS_PAGES") * _number("PAGE_SIZE") > _MEMORY_BYTES:
        settings += [
            "ldlm.namespaces.*.lru_max_age=600000",
            f"ldlm.namespaces.*.lru_size={100 * cpus}",
        ]
    for setting in settings:
        done = run("lctl", "set_param", setting)
        if not done.ok:
            log(f"{mount}: WARNING: {setting} was not set ({done.last_line})")


def _number(name: str) -> int:
    done = run("getconf", name)
    return int(done.output) if done.ok and done.output.strip().isdigit() else 0
