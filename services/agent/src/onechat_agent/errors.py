"""What the agent service refuses with; reasons are those of its contract."""

import grpc
from onechat_runtime.errors import ServiceError


class DeliveryInvalid(ServiceError):
    """A delivery cannot be taken as it is."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "DELIVERY_INVALID"


class TooManyDeliveries(ServiceError):
    """Deliver takes 1 to 256 deliveries at once."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY_DELIVERIES"


class BackingNotAllowed(ServiceError):
    """This caller cannot speak as the user, nor say that the user stands behind a delivery."""

    code, reason = grpc.StatusCode.PERMISSION_DENIED, "BACKING_NOT_ALLOWED"


class NotACommand(ServiceError):
    """This line is no command. Deliver it as a message."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "NOT_A_COMMAND"


class AgentUnknown(ServiceError):
    """There is no agent of that name or id."""

    code, reason = grpc.StatusCode.NOT_FOUND, "AGENT_UNKNOWN"


class GroupInvalid(ServiceError):
    """A group's agent is made for a source such as telegram:ID and a title."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "GROUP_INVALID"


class ModelUnavailable(ServiceError):
    """The model cannot be asked now. Do without it, or try again later."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "MODEL_UNAVAILABLE"


class BadDay(ServiceError):
    """A day is written YYYY-MM-DD."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "BAD_DAY"


class ImageInvalid(ServiceError):
    """This is no image that can be stored: send a PNG, JPEG, WebP or GIF of at most 20 MB."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID"


class ImageUnknown(ServiceError):
    """There is no image of this name. A name is as PutImage gave it, such as 0123456789abcdef.png."""

    code, reason = grpc.StatusCode.NOT_FOUND, "IMAGE_UNKNOWN"


class ProposalUnknown(ServiceError):
    """There is no proposal of that number."""

    code, reason = grpc.StatusCode.NOT_FOUND, "PROPOSAL_UNKNOWN"


class NoticeInvalid(ServiceError):
    """A notice has a key of 1 to 200 printable ASCII characters and a text of 1 to 2,000 characters."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "NOTICE_INVALID"
