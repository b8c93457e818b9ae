"""The task of a container cannot start."""


class TaskRefused(Exception):
    """ECS does not start the task; the message is the reason that it gives."""
