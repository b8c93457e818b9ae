"""The way from an empty account to a first job: its steps, which of them are done, the rest done.

It keeps no state: each step asks AWS how far it has come.
"""

from trainshed.up.account import look_at_limits
from trainshed.up.model import Look, Step, StepState
from trainshed.up.running import require_npx, run_command
from trainshed.up.site import Site
from trainshed.up.stacks import StackState, stack_states, stuck_stacks
from trainshed.up.steps import steps_of

__all__ = [
    "Look",
    "Site",
    "StackState",
    "Step",
    "StepState",
    "look_at_limits",
    "require_npx",
    "run_command",
    "stack_states",
    "steps_of",
    "stuck_stacks",
]
