"""What the scheduler refuses, each with the reason that its contract names.

The sentence of each helps whoever reads it: a person at a terminal, or the model through the agent's tools.
"""

from grpc import StatusCode
from onechat_runtime.errors import BadPage, KeyReused, ServiceError

__all__ = ["BadPage", "KeyReused"]


class TextInvalid(ServiceError):
    """A schedule's text says what is to be done, in 1 to 10,000 characters."""

    code, reason = StatusCode.INVALID_ARGUMENT, "TEXT_INVALID"


class TimeInvalid(ServiceError):
    """Say when: at as YYYY-MM-DD HH:MM for a single run, or cron as five fields for one that comes again."""

    code, reason = StatusCode.INVALID_ARGUMENT, "TIME_INVALID"


class CronInvalid(ServiceError):
    """A cron expression has five fields of numbers: minute, hour, day of month, month, day of week."""

    code, reason = StatusCode.INVALID_ARGUMENT, "CRON_INVALID"


class OwnerInvalid(ServiceError):
    """Name the owner: an agent's id, of 1 to 200 characters."""

    code, reason = StatusCode.INVALID_ARGUMENT, "OWNER_INVALID"


class ScheduleUnknown(ServiceError):
    """This owner has no such schedule. List the schedules to see those that are there."""

    code, reason = StatusCode.NOT_FOUND, "SCHEDULE_UNKNOWN"
