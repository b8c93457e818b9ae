"""Bring a deployed cluster to what its file says now: what that does, to jobs too, and the doing.

It keeps no state: what is deployed is what CloudFormation has.
"""

from trainshed.apply.jobs import Fate, JobFate
from trainshed.apply.survey import ChangeRefusal, ChangeSurvey, survey_change

__all__ = ["ChangeRefusal", "ChangeSurvey", "Fate", "JobFate", "survey_change"]
