"""A server of NFS 4 in the virtual machine with a kernel, for its own clients.

EFS and FSx for OpenZFS are servers of NFS; this one is the kernel's.
"""

from collections.abc import Mapping

# What `KernelMachine.boot` needs for it.
PROGRAMS = ("exportfs", "mount.nfs4", "rpc.mountd", "rpc.nfsd")
MODULES = ("nfsd", "nfsv4")
FILES = {
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/netconfig": "tcp tpi_cots_ord v inet tcp - -\n",
    "/etc/passwd": "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "/etc/protocols": "tcp 6 TCP\n",
    "/etc/services": "nfs 2049/tcp\n",
}


def serve(exports: Mapping[str, str]) -> str:
    """Return shell commands that serve empty file systems at 127.0.0.1, by their options.

    Args:
        exports: options of exports(5) by name: `{"data": "rw,root_squash"}` is 127.0.0.1:/data, of
            which the server's own folder is /export/data.
    """
    lines = ["mkdir -p /export /var/lib/nfs/v4recovery", "mount -t tmpfs none /export"]
    table = ["/export *(ro,fsid=0,insecure,no_subtree_check)"]
    for number, (name, options) in enumerate(exports.items(), start=1):
        lines += [f"mkdir /export/{name}", f"mount -t tmpfs -o mode=755 none /export/{name}"]
        # A client that is no root has no port that only root may use.
        table.append(f"/export/{name} *({options},fsid={number},insecure,no_subtree_check)")
    return "\n".join(
        [
            *lines,
            f"printf '%s\\n' {' '.join(repr(line) for line in table)} >/etc/exports",
            "echo >/var/lib/nfs/etab; echo >/var/lib/nfs/rmtab",
            "mount -t nfsd nfsd /proc/fs/nfsd",
            # By default it is less on a machine with little memory.
            "echo 1048576 >/proc/fs/nfsd/max_block_size",
            "exportfs -ra",
            "rpc.mountd --no-nfs-version 3 --no-udp",
            "rpc.nfsd --no-nfs-version 3 --no-udp 1",
            # No client was there before, that a new one would have to wait for.
            "echo Y >/proc/fs/nfsd/v4_end_grace",
            "",
        ]
    )
