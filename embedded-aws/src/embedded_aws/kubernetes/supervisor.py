"""The process that runs a control plane: `python -m embedded_aws.kubernetes.supervisor`.

The first line of standard input has the settings, as JSON. It prints one line of JSON: the port of
the API server once that answers, or `{"error": ...}`. Each further line is a minor version, to
which it updates the programs of Kubernetes; it answers in the same way. It ends, and all that it
started, when standard input ends or one of the programs does.
"""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path

import yaml

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.kubernetes.cache import programs
from embedded_aws.kubernetes.certificates import Authority, new_authority, write_new_key
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal
from embedded_aws.kubernetes.managers import JOBSET, KUEUE, Manager, register
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from embedded_aws.private_files import open_private, write_private

ADMINISTRATOR = "administrator"
# As which the API server asks kubelets, and other API servers.
KUBELET_CLIENT = "kube-apiserver-kubelet-client"
_FRONT_PROXY = "front-proxy-client"
_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)
_PATIENCE_SECONDS = 90
_PAUSE_SECONDS = 0.1
_SHOWN_LINES = 8
_LOOPBACK = "127.0.0.1"
# How long the API server takes an answer of a webhook for true: changes show soon.
_REMEMBERED = "2s"
_AUDIT_MIB = 20
# Kubernetes, "Auditing". Leases and events say that something lives, not who did what. The body of
# a request is not written: a secret may be in it.
_AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "None",
            "resources": [
                {"group": "coordination.k8s.io", "resources": ["leases"]},
                {"group": "", "resources": ["events"]},
                {"group": "events.k8s.io", "resources": ["events"]},
            ],
        },
        {"level": "None", "nonResourceURLs": ["/readyz*", "/livez*", "/healthz*", "/version"]},
        {"level": "Metadata"},
    ],
}
# kube-controller-manager and kube-scheduler serve metrics to nobody here.
_NO_PORT = "--secure-port=0"


class Supervisor:
    """Starts the programs of a control plane, and watches them.

    Args:
        settings: of the control plane.
    """

    def __init__(self, settings: ControlPlaneSettings) -> None:
        self._settings = settings
        self._folder = Path(settings.folder)
        self._programs = programs(settings.kubernetes)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        # The arguments of the programs of Kubernetes, in the order in which they start.
        self._kubernetes: dict[str, Sequence[str]] = {}
        self._authority = Authority(self._folder, settings.authority)
        self._port, self._etcd, self._peers = _free_ports(3)
        certificate, key = self._authority.client(
            ADMINISTRATOR, "kubernetes-admin", "system:masters"
        )
        self._client = ApiClient(
            port=self._port, authority=self._authority.file, certificate=certificate, key=key
        )

    def start(self) -> int:
        """Start all programs, and return the API server's port when it is ready.

        Raises:
            EmbeddedAwsError: a program has ended, or the server is not ready in time.
        """
        self._start_etcd()
        key = write_new_key(self._folder / "service-accounts.key")
        manager = self._kubeconfig("kube-controller-manager", "system:kube-controller-manager")
        scheduler = self._kubeconfig("kube-scheduler", "system:kube-scheduler")
        self._kubernetes = {
            "kube-apiserver": self._api_server_flags(key),
            "kube-controller-manager": [
                f"--kubeconfig={manager}",
                "--leader-elect=false",
                _NO_PORT,
                f"--service-account-private-key-file={key}",
                f"--root-ca-file={self._authority.file}",
                "--use-service-account-credentials=true",
            ],
            "kube-scheduler": [f"--kubeconfig={scheduler}", "--leader-elect=false", _NO_PORT],
        }
        self._start_kubernetes()
        if self._settings.jobset:
            self._start_manager(JOBSET)
        if self._settings.kueue:
            self._start_manager(KUEUE)
        return self._port

    def update(self, kubernetes: str) -> int:
        """Exchange the programs of Kubernetes, and return the port, which stays.

        Args:
            kubernetes: their minor version.

        Raises:
            EmbeddedAwsError: as `start`, or nothing is built for the version.
        """
        self._programs = programs(kubernetes)
        for name in reversed(self._kubernetes):
            _end(self._running.pop(name))
        self._start_kubernetes()
        return self._port

    def watch(self) -> None:
        """Update when standard input says so, and return when it ends; fail when a program does."""
        while True:
            if _stdin_is_readable(patience=1):
                line = sys.stdin.readline()
                if not line:
                    return
                _announce(port=self.update(line.strip()))
            self._check_programs()

    def stop(self) -> None:
        """End the programs at once: nothing of theirs is kept, and the API server takes seconds."""
        for process in self._running.values():
            _end(process)

    def _start_kubernetes(self) -> None:
        for name, arguments in self._kubernetes.items():
            self._run(name, *arguments)
            if name == "kube-apiserver":
                self._wait_until_ready()

    def _start_etcd(self) -> None:
        clients, peers = (f"http://{_LOOPBACK}:{port}" for port in (self._etcd, self._peers))
        self._run(
            "etcd",
            f"--data-dir={self._folder / 'etcd'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            # What it has does not outlive this process.
            "--unsafe-no-fsync",
        )

    def _api_server_flags(self, service_accounts: Path) -> Sequence[str]:
        # Pods reach it as a service, which has the first address of their range.
        service = next(ip_network(self._settings.service_cidr).hosts())
        names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", str(service))
        certificate, key = self._authority.server("server", "localhost", _LOOPBACK, *names)
        return [
            f"--etcd-servers=http://{_LOOPBACK}:{self._etcd}",
            f"--bind-address={_LOOPBACK}",
            f"--secure-port={self._port}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={self._authority.file}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={service_accounts}",
            f"--service-account-signing-key-file={service_accounts}",
            f"--service-cluster-ip-range={self._settings.service_cidr}",
            "--allow-privileged=true",
            "--enable-admission-plugins=NodeRestriction",
            *self._front_proxy_flags(),
            *self._vpc_flags(),
            *self._audit_flags(),
            *self._webhook_flags(),
        ]

    def _audit_flags(self) -> list[str]:
        if not self._settings.audit_log:
            return []
        file = self._folder / "audit.yaml"
        write_private(file, yaml.safe_dump(_AUDIT_POLICY))
        return [
            f"--audit-policy-file={file}",
            f"--audit-log-path={self._folder / self._settings.audit_log}",
            f"--audit-log-maxsize={_AUDIT_MIB}",
            "--audit-log-maxbackup=1",
        ]

    def _front_proxy_flags(self) -> list[str]:
        """Have other API servers, of which Kueue has one, learn from this one who asks.

        Kubernetes, "Configure the Aggregation Layer": the flags, their values, and an authority for
        nothing else. Where another API server does not answer, no namespace can be deleted.
        """
        folder = self._folder / "front-proxy"
        folder.mkdir()
        authority = Authority(folder, new_authority("front-proxy-ca"))
        certificate, key = authority.client("client", _FRONT_PROXY)
        return [
            f"--requestheader-client-ca-file={authority.file}",
            f"--requestheader-allowed-names={_FRONT_PROXY}",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificate}",
            f"--proxy-client-key-file={key}",
        ]

    def _vpc_flags(self) -> list[str]:
        """Have the API server reach nodes, pods and services as that of EKS does: through the VPC.

        Kubernetes, "Set up Konnectivity service": its configuration. Webhooks at URLs are no
        traffic to the cluster: the API server asks them directly.
        """
        if not self._settings.vpc_access:
            return []
        # The programs run in the folder; a longer path may be too long for a socket's.
        through = {
            "proxyProtocol": "HTTPConnect",
            "transport": {"uds": {"udsName": self._settings.vpc_access}},
        }
        configuration = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [
                {"name": "cluster", "connection": through},
                {"name": "controlplane", "connection": {"proxyProtocol": "Direct"}},
                {"name": "etcd", "connection": {"proxyProtocol": "Direct"}},
            ],
        }
        file = self._folder / "egress.yaml"
        write_private(file, yaml.safe_dump(configuration))
        certificate, key = self._authority.client(
            "kubelet-client", KUBELET_CLIENT, "system:masters"
        )
        return [
            f"--egress-selector-config-file={file}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-certificate-authority={self._authority.file}",
            f"--kubelet-client-certificate={certificate}",
            f"--kubelet-client-key={key}",
        ]

    def _webhook_flags(self) -> list[str]:
        """Have the API server ask others, as that of EKS does."""
        asked = self._settings.webhooks
        if asked is None:
            return ["--authorization-mode=Node,RBAC"]
        files = {}
        for name, server in (("authenticate", asked.authenticate), ("authorize", asked.authorize)):
            files[name] = self._folder / f"{name}.kubeconfig"
            write_private(files[name], _kubeconfig_text({"server": server}, {}))
        return [
            "--authorization-mode=Node,RBAC,Webhook",
            f"--authentication-token-webhook-config-file={files['authenticate']}",
            "--authentication-token-webhook-version=v1",
            f"--authentication-token-webhook-cache-ttl={_REMEMBERED}",
            f"--authorization-webhook-config-file={files['authorize']}",
            "--authorization-webhook-version=v1",
            f"--authorization-webhook-cache-authorized-ttl={_REMEMBERED}",
            f"--authorization-webhook-cache-unauthorized-ttl={_REMEMBERED}",
        ]

    def _start_manager(self, manager: Manager) -> None:
        [port] = _free_ports(1)
        folder = self._folder / manager.name
        folder.mkdir()
        arguments = register(
            manager,
            self._client,
            folder=folder,
            manifests=self._programs / manager.name,
            host=_LOOPBACK,
            port=port,
        )
        administrator = self._folder / f"{ADMINISTRATOR}.kubeconfig"
        self._write_kubeconfig(administrator, self._client.certificate, self._client.key)
        self._run(manager.name, f"--kubeconfig={administrator}", *arguments)
        self._wait_for_port(manager.name, port)

    def _run(self, name: str, *arguments: str) -> None:
        # Whoever reads the log goes on where he was after an update.
        with open_private(self._folder / f"{name}.log", append=True) as log:
            self._running[name] = subprocess.Popen(
                [str(self._programs / "bin" / name), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=_environment(os.environ),
                # Also when this process is killed.
                preexec_fn=_end_with_parent,
            )

    def _kubeconfig(self, name: str, user: str) -> Path:
        file = self._folder / f"{name}.kubeconfig"
        self._write_kubeconfig(file, *self._authority.client(name, user))
        return file

    def _write_kubeconfig(self, file: Path, certificate: Path, key: Path) -> None:
        server = f"https://{_LOOPBACK}:{self._port}"
        cluster = {"server": server, "certificate-authority": str(self._authority.file)}
        user = {"client-certificate": str(certificate), "client-key": str(key)}
        write_private(file, _kubeconfig_text(cluster, user))

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self._check()
            try:
                self._client.call("GET", "/readyz")
            except (OSError, ApiRefusal):
                time.sleep(_PAUSE_SECONDS)
            else:
                return
        raise EmbeddedAwsError(
            f"the API server is not ready after {_PATIENCE_SECONDS} s; "
            + self._end_of_log("kube-apiserver")
        )

    def _wait_for_port(self, name: str, port: int) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self._check()
            with socket.socket() as tried:
                if tried.connect_ex((_LOOPBACK, port)) == 0:
                    return
            time.sleep(_PAUSE_SECONDS)
        raise EmbeddedAwsError(f"{name} does not answer: {self._end_of_log(name)}")

    def _check(self) -> None:
        # Nobody says more before the answer to what was said.
        if _stdin_is_readable(patience=0):
            # Whoever needs the control plane has gone while it started.
            sys.exit(0)
        self._check_programs()

    def _check_programs(self) -> None:
        for name, process in self._running.items():
            if (code := process.poll()) is not None:
                raise EmbeddedAwsError(f"{name} ended with {code}: {self._end_of_log(name)}")

    def _end_of_log(self, name: str) -> str:
        """Return the last lines of a program's log."""
        log = self._folder / f"{name}.log"
        lines = log.read_text(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
        return "\n".join([f"the end of {log}:", *lines])


def _kubeconfig_text(cluster: Mapping[str, str], user: Mapping[str, str]) -> str:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": dict(cluster)}],
        "users": [{"name": "it", "user": dict(user)}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "current-context": "it",
    }
    return str(yaml.safe_dump(config))


def _stdin_is_readable(*, patience: float) -> bool:
    readable, _, _ = select.select([sys.stdin], [], [], patience)
    return bool(readable)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without proxies: the programs speak to loopback alone."""
    return {name: value for name, value in own.items() if not name.lower().endswith("_proxy")}


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _free_ports(count: int) -> Sequence[int]:
    sockets = [socket.create_server((_LOOPBACK, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def main() -> None:
    """Run a control plane until standard input ends."""
    settings = ControlPlaneSettings.from_json(sys.stdin.readline())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervisor = None
    try:
        supervisor = Supervisor(settings)
        _announce(port=supervisor.start())
        supervisor.watch()
    except EmbeddedAwsError as error:
        _announce(error=str(error))
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    finally:
        if supervisor:
            supervisor.stop()


def _announce(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
