"""Stub kernels, and headers that really compile a stub module."""

from vendors.package import Contents, File

# What module sources need of a kernel: the strings that modinfo reads, in their ELF section.
_MODULE_H = """\
#define __stub_info(name, text) \\
    static const char __stub_##name[] __attribute__((section(".modinfo"), used)) = #name "=" text
#define MODULE_LICENSE(text) __stub_info(license, text)
#define MODULE_VERSION(text) __stub_info(version, text)
__stub_info(vermagic, VERMAGIC " SMP mod_unload ");
"""

# Kbuild in so far as `make -C /lib/modules/V/build M=... modules` and `clean` work.
_KBUILD = """\
override M := $(or $(M),$(KBUILD_EXTMOD),$(SUBDIRS))
include $(M)/Kbuild
modules: $(patsubst %.o,$(M)/%.ko,$(obj-m))
$(M)/%.ko: $(M)/%.c
\t$(CC) -c -Wall -Werror -DVERMAGIC='"@RELEASE@"' -I$(CURDIR)/include -o $@ $<
clean:
\trm -f $(M)/*.ko
.PHONY: modules clean
.DEFAULT_GOAL := modules
"""


# Lustre's module is in no dkms: it comes compiled, and these compile it when they are installed.
_LUSTRE_C = """\
#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_VERSION("@VERSION@");
"""


def lustre_module(release: str, version: str) -> Contents:
    """A Lustre module for one kernel."""
    folder = f"/usr/share/stub-vendors/lustre-{release}"
    target = f"/lib/modules/{release}/updates/lustre.ko"
    return Contents(
        files={
            f"{folder}/lustre.c": File(text=_LUSTRE_C.replace("@VERSION@", version)),
            f"{folder}/include/linux/module.h": File(text=_MODULE_H),
        },
        after_install=f"mkdir -p {target.rpartition('/')[0]}\n"
        f"gcc -c -DVERMAGIC='\"{release}\"' -I{folder}/include -o {target} {folder}/lustre.c\n"
        f"depmod {release}",
        before_removal=f"rm -f {target}",
    )


def kernel(release: str) -> Contents:
    """What boots: an image and a folder of modules, which belong to `uname -r`."""
    modules = f"/lib/modules/{release}"
    return Contents(
        files={
            f"/boot/vmlinuz-{release}": File(text=f"stub kernel {release}\n", mode=0o600),
            f"/boot/config-{release}": File(text="CONFIG_MODULES=y\n"),
            f"/boot/System.map-{release}": File(text="", mode=0o600),
            f"{modules}/modules.order": File(text=""),
            f"{modules}/modules.builtin": File(text=""),
            f"{modules}/modules.builtin.modinfo": File(text=""),
        },
        folders=(f"{modules}/kernel",),
        after_install=f"depmod {release}",
    )


def headers(release: str, *, folder: str) -> Contents:
    """What modules are compiled with, where the distribution has it."""
    return Contents(
        files={
            f"{folder}/Makefile": File(text=_KBUILD.replace("@RELEASE@", release)),
            f"{folder}/include/linux/module.h": File(text=_MODULE_H),
            f"{folder}/include/generated/utsrelease.h": File(
                text=f'#define UTS_RELEASE "{release}"\n'
            ),
            f"{folder}/.config": File(text="CONFIG_MODULES=y\n"),
        },
        links={f"/lib/modules/{release}/build": folder},
    )
