"""A pod whose containers run as processes of this machine.

Kubernetes, "Pod Lifecycle": SIGTERM and, after the grace period, SIGKILL. "Init Containers": they
run before the other containers, one after the other. "Sidecar Containers": those among them that
stay end last, in the opposite order, each when the ones after it have ended. The kubelet's source,
`killContainer` of `pkg/kubelet/kuberuntime`: each has at least two seconds. EKS user guide, "Learn
how EKS Pod Identity grants Pods access to AWS services": credentials come from an agent, an add-on,
by the association of the service account; variables of the pod say where. From memory: the words of
an image that cannot be pulled, and that the region is among those variables.
"""

import math
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.clock import seconds_here
from embedded_aws.ec2.instance_files import instance_files
from embedded_aws.ec2.instance_store import mounted_store
from embedded_aws.eks.calls import guard
from embedded_aws.eks.container_limits import refuse_unknown
from embedded_aws.eks.pod_container import PodContainer
from embedded_aws.eks.pod_events import PodEvents
from embedded_aws.eks.pod_logs import ContainerLog
from embedded_aws.eks.pod_network import PodPlace
from embedded_aws.eks.pod_probes import Probes
from embedded_aws.eks.pod_problems import Waits
from embedded_aws.eks.pod_services import services_of
from embedded_aws.eks.pod_statuses import TIME, TOO_LATE, pod_status
from embedded_aws.eks.pod_values import expanded, variables_of
from embedded_aws.eks.pod_volumes import NodeFiles, Volume, make_volumes, mounts, update_volumes
from embedded_aws.eks.probe_answers import Asked, NoAnswer
from embedded_aws.eks.probe_commands import execute
from embedded_aws.eks.tables import addons, of_cluster, pod_identities
from embedded_aws.hosts.command_files import CommandFiles, NoCommand, WantedContainer, command_files
from embedded_aws.hosts.found_images import NotPulled
from embedded_aws.hosts.host import Host
from embedded_aws.hosts.hosts import Hosts, Inner, NoHost
from embedded_aws.hosts.process import Command, Listener
from embedded_aws.iam.roles import can_assume
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal
from embedded_aws.shared_storage import NotMounted, mounted_storage
from embedded_aws.trees import remove_tree

_AGENT = "eks-pod-identity-agent"
_PRINCIPAL = "pods.eks.amazonaws.com"
# What a container has from SIGTERM to SIGKILL in any case, and by a pod that does not say.
_LEAST_GRACE, _USUAL_GRACE = 2, 30
# Between two looks at what a pod's files are of.
_UPDATE_SECONDS = 60
# The variable with the file of names of a pod that has no network of its own.
_NAMES = "EMBEDDED_AWS_NAMES"


class PodRun:
    """A pod that runs.

    Attributes:
        pod: as it was when it was looked at last.
        place: its address and its names.
        instance: moto's, its node.

    Args:
        client: an administrator's, of the API server.
        call: in whose account and region.
        cluster: the cluster.
        pod: the pod.
        instance: moto's, its node.
        hosts: on which processes run.

    Raises:
        Waits: there is no address for it.
    """

    def __init__(
        self, client: ApiClient, call: Call, cluster: Row, pod: Row, instance: Any, hosts: Hosts
    ) -> None:
        self._client, self._call, self._cluster = client, call, cluster
        self.pod, self.instance, self._hosts = pod, instance, hosts
        self._uid = str(pod["metadata"]["uid"])
        self._folder = hosts.folder / f"pod-{self._uid}"
        self.place = PodPlace(
            pod, instance, self._folder.with_name(f"{self._folder.name}-hosts"), apart=hosts.apart
        )
        self._folder.mkdir()
        policy = pod["spec"].get("restartPolicy", "Always")
        self._init, self._own = (
            [
                PodContainer(spec=each, is_init=field == "initContainers", pod_policy=policy)
                for each in pod["spec"].get(field, [])
            ]
            for field in ("initContainers", "containers")
        )
        self._volumes: dict[str, Volume] | None = None
        self._since = datetime.now(UTC).strftime(TIME)
        # In seconds of this machine, on which programs take the time that they take.
        self._late_at = time.monotonic() + pod["spec"].get("activeDeadlineSeconds", math.inf)
        self._is_too_late = False
        self._update_at = 0.0
        self._kill_at: float | None = None
        self._events = PodEvents(client, pod)
        self._closed = False

    @property
    def over(self) -> bool:
        """No container runs, or will run again."""
        return self._is_done and not any(each.runs for each in self._all)

    def look(self, pod: Row) -> Row:
        """Start what is to be started, end what is to end, and return the status of the pod.

        Args:
            pod: as it is now.
        """
        self.pod = pod
        if self._volumes and time.monotonic() >= self._update_at:
            update_volumes(self._client, pod, self._folder)
            self._update_at = time.monotonic() + seconds_here(_UPDATE_SECONDS)
        if self._kill_at is None and time.monotonic() >= self._late_at:
            self._is_too_late = True
            self._events.note("", TOO_LATE["reason"], TOO_LATE["message"])
            self.stop(self._grace)
        if not self._is_done:
            self._start_in_order()
            self._end_unhealthy()
        elif self._kill_at is None:
            # Sidecars are left, if anything.
            self.stop(self._grace)
        if self._kill_at is not None:
            self._end_in_order(self._kill_at)
        for container in self._all:
            late = container.kill_at is not None and time.monotonic() >= container.kill_at
            if late and container.runs:
                self._signal(container, signal.SIGKILL)
        self._events.tell()
        # Once: a container may end at any moment.
        if over := self.over:
            self.close()
        return self._status(over=over)

    def stop(self, seconds: float) -> None:
        """End it: SIGTERM, and later SIGKILL.

        Args:
            seconds: between them.
        """
        end = time.monotonic() + seconds_here(seconds)
        if self._kill_at is not None and self._kill_at <= end:
            return
        self._kill_at = end
        if self._is_initialized:
            for container in self._all:
                if container.process is None and container.ended is None:
                    container.end_unstarted()
        for container in self._all:
            if container.runs and container.kill_at is not None:
                container.kill_at = min(container.kill_at, self._later(end))
        self._end_in_order(end)

    def close(self) -> None:
        """Let nothing of it be left but its logs."""
        if self._closed:
            return
        self._closed, self._volumes = True, None
        self._hosts.credentials.revoke(self._session)
        if self.place.of_node:
            for container in self._all:
                self._signal(container, signal.SIGKILL)
        else:
            self._hosts.end_inner(self.instance, self._uid)
        self.place.release()
        remove_tree(self._folder)

    def log(self, container: str, *, before: bool) -> ContainerLog | None:
        """Return the log of a container, or of its run before; None if it has none."""
        for each in self._all:
            if each.name == container:
                return each.past_log if before else each.log
        return None

    def connect(self, port: int) -> socket | None:
        """Return a connection to a port of the pod, or None if nothing listens there."""
        host = self._hosts.found(self.instance, "" if self.place.of_node else self._uid)
        return host.connect(self.place.here, port) if host else None

    @property
    def _is_alone(self) -> bool:
        """Its host, and so all that the container has started, ends with the one container."""
        return len(self._all) == 1 and not self.place.of_node

    @property
    def _all(self) -> list[PodContainer]:
        """All containers, in the order in which they start."""
        return [*self._init, *self._own]

    @property
    def _is_initialized(self) -> bool:
        return all(each.is_initialized for each in self._init)

    @property
    def _is_done(self) -> bool:
        """Nothing more is started: its containers, or one that they wait for, ended for good."""
        return (
            self._kill_at is not None
            or all(each.is_over for each in self._own)
            or any(each.is_over and not each.is_initialized for each in self._init)
        )

    @property
    def _session(self) -> str:
        return f"eks-{self._cluster['name']}-{self.pod['metadata']['name']}"[:40] + self._uid[:8]

    def _start_in_order(self) -> None:
        """Start what is to be started now, or again.

        As `computeInitContainerActions` of the kubelet: an init container that has been initialized
        once holds up no other; of these, sidecars run again and the others do not.
        """
        for container in self._init:
            if container.is_sidecar or not container.is_initialized:
                self._further(container)
            if not container.is_initialized:
                return
        for container in self._own:
            self._further(container)

    def _end_in_order(self, kill_at: float) -> None:
        """Have the containers end whose turn it is; sidecars come last, the last one first.

        Args:
            kill_at: when the grace period of the pod is over.
        """
        waits = any(each.runs for each in self._own)
        for container in reversed(self._all):
            if not container.runs:
                continue
            if container.kill_at is None:
                if waits and container.is_sidecar:
                    continue
                self._end(container, kill_at, f"Stopping container {container.name}")
            waits |= container.is_sidecar

    def _end_unhealthy(self) -> None:
        """Have the containers end that are to be killed for what their probes found."""
        for container in self._all:
            failed = container.probes.failed if container.probes else None
            if failed is None or not container.runs or container.kill_at is not None:
                continue
            said = f"{'Init container' if container.is_init else 'Container'} {container.name}"
            said += f" failed {failed} probe"
            if not container.is_init and container.policy != "Never":
                said += ", will be restarted"
            seconds = container.spec[f"{failed}Probe"].get("terminationGracePeriodSeconds")
            grace = self._grace if seconds is None else seconds
            self._end(container, time.monotonic() + seconds_here(grace), said)

    def _end(self, container: PodContainer, kill_at: float, said: str) -> None:
        container.kill_at = self._later(kill_at)
        self._events.note(container.place, "Killing", said)
        self._signal(container, signal.SIGTERM)

    @property
    def _grace(self) -> float:
        return float(self.pod["spec"].get("terminationGracePeriodSeconds", _USUAL_GRACE))

    @staticmethod
    def _later(kill_at: float) -> float:
        """Return when a container is killed that gets SIGTERM now."""
        return max(kill_at, time.monotonic() + seconds_here(_LEAST_GRACE))

    def _further(self, container: PodContainer) -> None:
        """Start a container, or start it again, where it is time for that."""
        if container.ended:
            if not container.may_run_again():
                return
            if self._is_alone:
                self._hosts.end_inner(self.instance, self._uid)
            container.forget_run()
        if container.process is not None:
            return
        try:
            self._start(container)
        except Waits as reason:
            container.waits = (reason.reason, str(reason))
        except NotPulled as problem:
            container.waits = _pull_problem(container.spec["image"], container.waits[0], problem)
        except (ApiRefusal, NoHost, OSError) as reason:
            container.waits = ("ContainerCreating", str(reason))

    def _start(self, container: PodContainer) -> None:
        disk = self._hosts.disk(self.instance)
        root = instance_files(self.instance, disk)
        if self._volumes is None:
            node = self._node_files(disk, root)
            self._volumes = make_volumes(self._client, self.pod, self._folder, node)
            self._update_at = time.monotonic() + seconds_here(_UPDATE_SECONDS)
        refuse_unknown(container.spec, self.pod["spec"])
        host = self._host()
        own = self._folder / f"container-{container.name}-{container.restarts}"
        # Of an attempt that failed.
        remove_tree(own)
        own.mkdir()
        variables = self._variables(container)
        files = self._files(container, variables, own, root)
        log = container.log = ContainerLog()
        log.write([f"embedded AWS: {files.said}"])
        container.command = Command(
            name=container.identifier,
            words=files.words,
            environment={**self._host_variables(), **files.variables, **variables},
            folder=own,
            only=self._is_alone,
            container=files.container,
        )
        container.process = host.run(
            container.command,
            Listener(
                started=partial(self._note_start, container),
                printed=log.write,
                ended=partial(self._note_end, container, log),
            ),
        )

    def _node_files(self, disk: Path, root: Path) -> NodeFiles:
        """Return where the files of the pod's node are."""
        try:
            shared = mounted_storage(self.instance, self._hosts)
        except NotMounted as reason:
            raise Waits("ContainerCreating", str(reason)) from reason
        return NodeFiles(root=root, mounted={**mounted_store(self.instance, disk), **shared})

    def _host(self) -> Host:
        if self.place.of_node:
            return self._hosts.of(self.instance)
        inner = Inner(
            key=self._uid,
            address=self.place.address,
            name=self.place.hostname,
            names=self.place.file,
            services=services_of(self._cluster, self._client),
        )
        return self._hosts.of(self.instance, inner)

    def _host_variables(self) -> dict[str, str]:
        found = self._hosts.variables(self.place.here)
        return found if self._hosts.apart else {**found, _NAMES: str(self.place.file)}

    def _variables(self, container: PodContainer) -> dict[str, str]:
        status = {"podIP": self.place.address, "hostIP": self.instance.private_ip}
        pod = {**self.pod, "status": status}
        before = {"HOSTNAME": self.place.hostname, **self._credentials()}
        return variables_of(self._client, pod, container.spec, before)

    def _files(
        self, container: PodContainer, variables: Mapping[str, str], folder: Path, root: Path
    ) -> CommandFiles:
        spec = container.spec
        of_pod = self.pod["spec"].get("securityContext", {})
        security = {**of_pod, **spec.get("securityContext", {})}
        bound, memory = mounts(spec, self._volumes or {})
        user = f"{security.get('runAsUser', '')}"
        if "runAsGroup" in security:
            user = f"{user or 0}:{security['runAsGroup']}"
        wanted = WantedContainer(
            image=spec["image"],
            entrypoint=[expanded(word, variables) for word in spec.get("command", [])],
            arguments=[expanded(word, variables) for word in spec.get("args", [])],
            user=user,
            work=spec.get("workingDir", ""),
            bound=bound,
            memory=memory,
            read_only=security.get("readOnlyRootFilesystem", False),
            privileged=security.get("privileged", False),
        )
        try:
            files = command_files(self._call, wanted, self._hosts.images, folder, root)
        except NoCommand as problem:
            raise Waits("CreateContainerError", str(problem) or "no command specified") from problem
        is_root = files.container and files.container.user.partition(":")[0] in ("", "0", "root")
        if security.get("runAsNonRoot") and is_root:
            raise Waits(
                "CreateContainerConfigError",
                "container has runAsNonRoot and image will run as root (pod: "
                f'"{self.pod["metadata"]["name"]}_{self.pod["metadata"]["namespace"]}'
                f'({self._uid})", container: {container.name})',
            )
        return files

    def _credentials(self) -> dict[str, str]:
        """Return the variables by which a pod gets the role of its service account."""
        metadata = self.pod["metadata"]
        account = self.pod["spec"].get("serviceAccountName", "default")
        with guard:
            agents = of_cluster(addons(self._call), self._cluster["name"])
            if not any(
                (each["addonName"], each["status"]) == (_AGENT, "ACTIVE") for each in agents
            ):
                return {}
            found = [
                each["roleArn"]
                for each in of_cluster(pod_identities(self._call), self._cluster["name"])
                if (each["namespace"], each["serviceAccount"]) == (metadata["namespace"], account)
            ]
        if not found or not can_assume(self._call, _PRINCIPAL, found[0]):
            return {}
        region = self._call.region
        given = self._hosts.credentials.grant(self._call, self._session, found[0])
        return {"AWS_REGION": region, "AWS_DEFAULT_REGION": region, **given}

    def _note_start(self, container: PodContainer) -> None:
        asked = Asked(
            spec=container.spec,
            address=self.place.address,
            version=self._cluster["version"],
            connect=self.connect,
            execute=partial(self._execute, container),
        )
        container.note_start(Probes(asked, partial(self._note_unhealthy, container)))

    def _note_unhealthy(self, container: PodContainer, said: str) -> None:
        # A pod that ends is not asked.
        if self._kill_at is None:
            self._events.note(container.place, "Unhealthy", said, warns=True)

    def _execute(
        self, container: PodContainer, words: Sequence[str], seconds: float
    ) -> tuple[int | None, str]:
        """Run a command in a container that runs, as `Asked` has it."""
        host = self._hosts.found(self.instance, "" if self.place.of_node else self._uid)
        if host is None or container.command is None:
            raise NoAnswer("the container has ended")
        static = {each["name"]: each.get("value", "") for each in container.spec.get("env", [])}
        command = replace(
            container.command,
            words=[expanded(word, static) for word in words],
            only=False,
            name="",
            beside=container.identifier,
        )
        return execute(host, command, seconds)

    def _note_end(
        self,
        container: PodContainer,
        log: ContainerLog,
        code: int | None,
        refused: OSError | None,
    ) -> None:
        log.close()
        if container.probes:
            container.probes.end()
        if self.instance.state != "running":
            # Its kubelet has ended, too, and says nothing more: the controllers find out.
            return
        metadata = self.pod["metadata"]
        pod = f"{metadata['name']}_{metadata['namespace']}({self._uid})"
        container.note_end(code, refused, pod)

    def _signal(self, container: PodContainer, number: signal.Signals) -> None:
        if container.process is None:
            return
        if number == signal.SIGKILL and not self._is_alone:
            container.process.send_group(number)
        else:
            container.process.send(number)

    def _status(self, *, over: bool) -> Row:
        ends = self._kill_at is not None
        return pod_status(
            self.pod,
            [each.status(self.pod, ends=ends) for each in self._own],
            init=[each.status(self.pod, ends=ends) for each in self._init],
            since=self._since,
            address=self.place.address,
            host=self.instance.private_ip,
            over=over,
            too_late=self._is_too_late,
        )


def _pull_problem(image: str, before: str, problem: NotPulled) -> tuple[str, str]:
    code = "Unknown" if problem.found else "NotFound"
    said = (
        f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": '
        f"{problem}"
    )
    if before in ("ErrImagePull", "ImagePullBackOff"):
        return "ImagePullBackOff", f'Back-off pulling image "{image}": ErrImagePull: {said}'
    return "ErrImagePull", f'Failed to pull image "{image}": rpc error: code = {code} desc = {said}'
