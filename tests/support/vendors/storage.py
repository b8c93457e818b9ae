"""Stub packages of the clients of shared storage other than Lustre."""

from vendors.package import Contents, File, Recipe, bare, program, tool
from vendors.services import daemon, unit

_NO_SERVER = "no server of files here"
# Debian's and Fedora's packages of rpcbind, on which those of the NFS client depend, start it so.
_PORT_MAPPER = {
    "/usr/sbin/rpcbind": daemon("rpcbind"),
    "/usr/lib/systemd/system/rpcbind.service": unit("RPC Bind", "/usr/sbin/rpcbind"),
    "/usr/lib/systemd/system/rpcbind.socket": File(
        text="[Unit]\nDescription=RPCbind Server Activation Socket\n\n"
        "[Socket]\nListenStream=/run/rpcbind.sock\nListenStream=0.0.0.0:111\n\n"
        "[Install]\nWantedBy=sockets.target\n"
    ),
}


def nfs_client(version: str) -> Contents:
    """nfs-common or nfs-utils: packages.ubuntu.com/noble/amd64/nfs-common/filelist."""
    return Contents(
        files={
            "/usr/sbin/mount.nfs": tool(
                f"mount.nfs: {bare(version)}", otherwise=_NO_SERVER, code=32
            ),
            **_PORT_MAPPER,
        },
        links={"/usr/sbin/mount.nfs4": "mount.nfs"},
        after_install="systemctl enable --now rpcbind.socket || systemctl enable rpcbind.socket",
    )


def efs_utils(version: str) -> Contents:
    """amazon-efs-utils: `%files` of amazon-efs-utils.spec in github.com/aws/efs-utils."""
    return Contents(
        files={
            "/usr/sbin/mount.efs": tool(
                f"/usr/sbin/mount.efs Version: {bare(version)}", otherwise=_NO_SERVER, code=1
            ),
            "/usr/sbin/mount.s3files": program("exit 1\n"),
            "/usr/sbin/efs-proxy": daemon(f"efs-proxy {bare(version)}"),
            "/usr/bin/amazon-efs-mount-watchdog": daemon(bare(version)),
            "/usr/lib/systemd/system/amazon-efs-mount-watchdog.service": unit(
                "amazon-efs-mount-watchdog", "/usr/bin/amazon-efs-mount-watchdog"
            ),
            "/etc/amazon/efs/efs-utils.conf": File(text="[DEFAULT]\n"),
            "/etc/amazon/efs/efs-utils.crt": File(text=""),
        },
        folders=("/var/log/amazon/efs",),
    )


def mountpoint(version: str) -> Contents:
    """mount-s3: package/package.py and package/spec of github.com/awslabs/mountpoint-s3."""
    home = "/usr/bin/mount-s3" if "amzn" in version else "/opt/aws/mountpoint-s3/bin/mount-s3"
    links = {"/usr/sbin/mount.mount-s3": home}
    if home != "/usr/bin/mount-s3":
        links["/usr/bin/mount-s3"] = home
    return Contents(
        files={home: tool(f"mount-s3 {bare(version)}", otherwise=_NO_SERVER, code=1)}, links=links
    )


STORAGE: dict[str, Recipe] = {
    "nfs-common": nfs_client,
    "nfs-utils": nfs_client,
    "amazon-efs-utils": efs_utils,
    "mount-s3": mountpoint,
}
