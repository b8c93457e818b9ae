"""Stub sources: makefiles that make what the real ones make, and stop where those stop."""

from vendors.package import File

# As the real ones do, they stop without the compiler and without the MPI that they are given.
_MAKEFILE = """\
build:
\ttest -x /usr/bin/g++
\ttest "$(MPI)" != 1 || test -d "$(MPI_HOME)"
\tmkdir -p @FOLDER@
\tprintf '#!/bin/sh\\necho "@PROGRAM@ @VERSION@"\\n' > @FOLDER@/@PROGRAM@
\tchmod 755 @FOLDER@/@PROGRAM@
.PHONY: build
"""


def nccl_tests(version: str) -> dict[str, File]:
    """The files of GitHub's tarball of a tag of nccl-tests."""
    makefile = _makefile(folder="build", program="all_reduce_perf", version=version)
    return {f"nccl-tests-{version}/Makefile": makefile}


def hccl_demo(version: str) -> dict[str, File]:
    """The files of a commit of hccl_demo."""
    return {"Makefile": _makefile(folder=".", program="hccl_demo", version=version)}


# GDRCopy's library needs no CUDA; its programs, which nobody asks for, do. `lib_install` installs
# what `lib` made.
_GDRCOPY_MAKEFILE = """\
prefix ?= /usr/local
libdir ?= $(prefix)/lib
name := libgdrapi.so.@VERSION@
lib:
\techo 'int gdr_runtime_get_version(void) { return 0; }' | \\
\t\t$(CC) -shared -fPIC -Wl,-soname,libgdrapi.so.2 -x c - -o src/$(name)
exes:
\ttest -d /usr/local/cuda/include
lib_install:
\tinstall -D -m 755 src/$(name) $(DESTDIR)$(libdir)/$(name)
\tln -sf $(name) $(DESTDIR)$(libdir)/libgdrapi.so.2
\tln -sf libgdrapi.so.2 $(DESTDIR)$(libdir)/libgdrapi.so
.PHONY: lib exes lib_install
"""


def gdrcopy(version: str) -> dict[str, File]:
    """The files of GitHub's tarball of a tag of gdrcopy."""
    number = version.rpartition(".")[0]
    folder = f"gdrcopy-{version}"
    return {
        f"{folder}/Makefile": File(text=_GDRCOPY_MAKEFILE.replace("@VERSION@", number)),
        f"{folder}/src/README": File(text=""),
    }


# As in Habana's repository: without LIBFABRIC_ROOT it looks where nothing is.
_WRAPPER_MAKEFILE = """\
ifeq (${LIBFABRIC_ROOT},)
root := /opt/libfabric
else
root := ${LIBFABRIC_ROOT}
endif

make:
\tg++ -I$(root)/include -Wall -shared -fPIC -o libhccl_ofi_wrapper.so hccl_ofi_wrapper.cpp \\
\t\t-L$(root)/lib -lfabric
"""
_WRAPPER = """\
#include <rdma/fabric.h>
extern "C" int wrapped_version() { return fi_version(); }
"""


def hccl_ofi_wrapper() -> dict[str, File]:
    """The files of a commit of hccl_ofi_wrapper."""
    return {
        "Makefile": File(text=_WRAPPER_MAKEFILE),
        "hccl_ofi_wrapper.cpp": File(text=_WRAPPER),
    }


def _makefile(*, folder: str, program: str, version: str) -> File:
    text = _MAKEFILE
    for mark, value in (("FOLDER", folder), ("PROGRAM", program), ("VERSION", version)):
        text = text.replace(f"@{mark}@", value)
    return File(text=text)
