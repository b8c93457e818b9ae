"""Stub drivers: sources of trivial kernel modules, which the real dkms compiles."""

from collections.abc import Mapping

from vendors.package import Contents, File

_SOURCE = """\
#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_VERSION("@VERSION@");
"""


def dkms_driver(
    source: str,
    version: str,
    modules: tuple[str, ...],
    *,
    files: Mapping[str, File] | None = None,
    requires: tuple[str, ...] = (),
) -> Contents:
    """A driver whose modules are built for the running kernel when it is installed.

    Args:
        source: dkms's name of it.
        version: of the modules, without the package's release.
        modules: names of the modules.
        files: what else the package brings.
        requires: packages it needs besides dkms.
    """
    folder = f"/usr/src/{source}-{version}"
    lines = [f'PACKAGE_NAME="{source}"', f'PACKAGE_VERSION="{version}"', "AUTOINSTALL=yes"]
    for position, module in enumerate(modules):
        lines.append(f'BUILT_MODULE_NAME[{position}]="{module}"')
        lines.append(f'DEST_MODULE_LOCATION[{position}]="/updates/dkms"')
    sources = {
        f"{folder}/dkms.conf": File(text="\n".join(lines) + "\n"),
        f"{folder}/Kbuild": File(text="".join(f"obj-m += {module}.o\n" for module in modules)),
        f"{folder}/Makefile": File(
            text="all:\n\t$(MAKE) -C /lib/modules/$(KERNELRELEASE)/build M=$(CURDIR) modules\n"
            "clean:\n\t$(MAKE) -C /lib/modules/$(KERNELRELEASE)/build M=$(CURDIR) clean\n"
        ),
    }
    for module in modules:
        sources[f"{folder}/{module}.c"] = File(text=_SOURCE.replace("@VERSION@", version))
    name = f"-m {source} -v {version}"
    return Contents(
        files=sources | dict(files or {}),
        after_install=f"dkms add {name}\ndkms build {name}\ndkms install {name} --force",
        before_removal=f"dkms remove {name} --all",
        requires=("dkms", *requires),
    )
