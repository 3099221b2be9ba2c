"""The contracts as protoc sees them, with their comments, for the tests of this folder.

Read from protos/ itself and not from the installed stubs, so that an edit is judged before it is built.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grpc_tools
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

REPOSITORY = Path(__file__).parents[2]
PROTOS = REPOSITORY / "protos"

# The places of a thing in its file, as google.protobuf.SourceCodeInfo.Location counts them.
_MESSAGE, _ENUM, _SERVICE = 4, 5, 6
_NESTED_MESSAGE, _NESTED_ENUM = 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Rpc:
    """One call of a service."""

    package: str
    service: str
    comment: str  #: as written above it, without the slashes
    method: MethodDescriptorProto

    @property
    def title(self) -> str:
        return f"{self.package}.{self.service}.{self.method.name}"

    def part(self, name: str) -> str | None:
        """What the comment says after `name`, its following lines joined; None when it has no such part."""
        found = re.search(rf"^{name}: (.*?)(?=^[A-Z][a-z]+: |\Z)", self.comment, re.MULTILINE | re.DOTALL)
        return " ".join(found[1].split()) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message type, nested ones among them."""

    package: str
    name: str  #: full, such as onechat.agent.v1.Event
    message: DescriptorProto

    def field(self, name: str) -> FieldDescriptorProto | None:
        return next((field for field in self.message.field if field.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    """An enum type, nested ones among them, with each value's comment."""

    package: str
    name: str
    enum: EnumDescriptorProto
    comments: dict[str, str]  #: value's name → comment


@cache
def files() -> tuple[FileDescriptorProto, ...]:
    """Every .proto of ours, compiled afresh."""
    sources = sorted(path.relative_to(PROTOS).as_posix() for path in PROTOS.glob("onechat/**/*.proto"))
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "contracts.binpb"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"--proto_path={PROTOS}",
                f"--proto_path={well_known}",
                "--include_source_info",
                f"--descriptor_set_out={out}",
                *sources,
            ],
            check=True,
        )
        return tuple(FileDescriptorSet.FromString(out.read_bytes()).file)


@cache
def rpcs() -> tuple[Rpc, ...]:
    """Every call of every service."""
    return tuple(
        Rpc(
            package=file.package,
            service=service.name,
            comment=_comments(file).get((_SERVICE, s, 2, m), ""),
            method=method,
        )
        for file in files()
        for s, service in enumerate(file.service)
        for m, method in enumerate(service.method)
    )


@cache
def messages() -> dict[str, Message]:
    """Every message type by its full name."""
    found: dict[str, Message] = {}

    def take(package: str, prefix: str, message: DescriptorProto) -> None:
        name = f"{prefix}.{message.name}"
        found[name] = Message(package=package, name=name, message=message)
        for nested in message.nested_type:
            take(package, name, nested)

    for file in files():
        for message in file.message_type:
            take(file.package, file.package, message)
    return found


@cache
def enums() -> dict[str, Enum]:
    """Every enum type by its full name."""
    return {enum.name: enum for file in files() for enum in _enums_of(file)}


def _enums_of(file: FileDescriptorProto) -> Iterator[Enum]:
    comments = _comments(file)

    def made(prefix: str, place: tuple[int, ...], enum: EnumDescriptorProto) -> Enum:
        said = {value.name: comments.get((*place, 2, v), "") for v, value in enumerate(enum.value)}
        return Enum(package=file.package, name=f"{prefix}.{enum.name}", enum=enum, comments=said)

    def within(prefix: str, place: tuple[int, ...], message: DescriptorProto) -> Iterator[Enum]:
        name = f"{prefix}.{message.name}"
        for e, enum in enumerate(message.enum_type):
            yield made(name, (*place, _NESTED_ENUM, e), enum)
        for n, nested in enumerate(message.nested_type):
            yield from within(name, (*place, _NESTED_MESSAGE, n), nested)

    for e, enum in enumerate(file.enum_type):
        yield made(file.package, (_ENUM, e), enum)
    for m, message in enumerate(file.message_type):
        yield from within(file.package, (_MESSAGE, m), message)


def field_comments(file: FileDescriptorProto) -> Iterator[tuple[str, FieldDescriptorProto, str]]:
    """Each field of the file's top messages: "Message.field", the field, its comment."""
    comments = _comments(file)
    for m, message in enumerate(file.message_type):
        for f, field in enumerate(message.field):
            yield f"{message.name}.{field.name}", field, comments.get((_MESSAGE, m, 2, f), "")


@cache
def reasons(package: str) -> dict[str, str]:
    """The error reasons of `package`, without prefix, each with the status code that its comment names."""
    enum = enums().get(f"{package}.ErrorReason")
    return {
        value.removeprefix("ERROR_REASON_"): comment.partition(":")[0]
        for value, comment in (enum.comments if enum else {}).items()
        if not value.endswith("_UNSPECIFIED")
    }


def _comments(file: FileDescriptorProto) -> dict[tuple[int, ...], str]:
    return {
        tuple(place.path): "\n".join(line.strip() for line in place.leading_comments.strip().splitlines())
        for place in file.source_code_info.location
    }
