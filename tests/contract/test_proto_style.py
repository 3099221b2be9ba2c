"""What every contract keeps: comments that answer the caller's questions, and one style.

protoc's own checks come first: a file that does not compile fails everything here.
"""

import re
from collections.abc import Callable

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from tests.contract.contracts import (
    PROTOS,
    Rpc,
    enums,
    field_comments,
    files,
    messages,
    reasons,
    rpcs,
)

TIMESTAMP = ".google.protobuf.Timestamp"
DURATION = ".google.protobuf.Duration"
NUMBERS = {
    FieldDescriptorProto.TYPE_INT32,
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_UINT32,
    FieldDescriptorProto.TYPE_UINT64,
    FieldDescriptorProto.TYPE_FLOAT,
    FieldDescriptorProto.TYPE_DOUBLE,
}
PERIOD_WORDS = {"timeout", "wait", "delay", "period", "interval", "duration", "age", "ttl", "lease"}
DEADLINE = re.compile(r"(none|\d+ s|\d+ minutes|`wait` and \d+ s)\b")

CALLS = {
    "onechat.memory.v1.MemoryService": """CreateLog ListLogs GetLogStats AppendMessages GetView Zoom
        GetMessageTime ListMessages SearchMessages LeaseCompactions CompleteCompaction FailCompaction
        RebuildNodes SwapLog DeleteLog PutImage GetImage""",
    "onechat.agent.v1.AgentService": """Deliver TellUser ListDeliveries Subscribe RunCommand StopTurn
        ListAgents ListRoutes GetUsage PutImage GetImage ListProposals AnswerProposal CreateGroupAgent
        GetAgent ResetAgentLog JudgeAddressed PlanImport RunImport ListKeptLogs RestoreKeptLog
        DeleteKeptLog""",
    "onechat.whatsapp.v1.WhatsAppService": """Pair GetStatus Unlink FindChats SendMessage GetSend
        GetProfile ListContacts""",
    "onechat.telegram.v1.TelegramService": "GetStatus ListGroups AdmitGroup SetGroup RemoveGroup",
    "onechat.scheduler.v1.SchedulerService": """CreateSchedule ListSchedules DeleteSchedule
        PreviewSchedule""",
    "onechat.ops.v1.SnapshotService": "GetInfo Freeze ReadSnapshot Thaw",
}

# Writes that are told apart by something else than a request_id, and by what.
KEYED_OTHERWISE = {
    "onechat.agent.v1.AgentService.Deliver": "each delivery's key",
    "onechat.agent.v1.AgentService.TellUser": "the notice's key",
    "onechat.agent.v1.AgentService.PutImage": "the image's content",
    "onechat.agent.v1.AgentService.JudgeAddressed": "it keeps nothing but its usage record",
    "onechat.memory.v1.MemoryService.CreateLog": "the log_id that the caller makes",
    "onechat.memory.v1.MemoryService.AppendMessages": "each message's key",
    "onechat.memory.v1.MemoryService.GetView": "a merge that is owed is owed once",
    "onechat.memory.v1.MemoryService.LeaseCompactions": "leases end by themselves, and with their holder",
    "onechat.memory.v1.MemoryService.CompleteCompaction": "log and node: the first line stays",
    "onechat.memory.v1.MemoryService.FailCompaction": "the lease_id",
    "onechat.memory.v1.MemoryService.PutImage": "the image's content",
}

# Lists that are no pages, and why.
UNPAGED = {
    "onechat.memory.v1.MemoryService.ListMessages": "a stream, which begins again at any message",
}

every_rpc = pytest.mark.parametrize("rpc", rpcs(), ids=lambda rpc: rpc.title)
every_file = pytest.mark.parametrize("file", files(), ids=lambda file: file.name)


@every_file
def test_a_package_is_the_folder_that_its_file_lies_in(file):
    """So that an import line tells where to look."""
    folder = file.name.rpartition("/")[0]

    assert file.package == folder.replace("/", ".")
    assert re.fullmatch(r"onechat\.[a-z]+\.v1", file.package)
    assert file.syntax == "proto3"


def test_each_package_but_the_common_one_has_one_service_in_a_file_of_its_name():
    services = {(file.package, service.name): file.name for file in files() for service in file.service}

    packages = [package for package, _ in services]

    assert sorted(packages) == sorted({file.package for file in files()} - {"onechat.common.v1"})
    for (package, name), file in services.items():
        folder = package.split(".")[1]
        assert name.endswith("Service")
        assert file == f"onechat/{folder}/v1/{folder}_service.proto"


def test_every_call_of_the_architecture_is_in_its_contract_and_no_other():
    there: dict[str, set[str]] = {}
    for rpc in rpcs():
        there.setdefault(f"{rpc.package}.{rpc.service}", set()).add(rpc.method.name)

    assert there == {service: set(calls.split()) for service, calls in CALLS.items()}


@every_rpc
def test_a_call_says_what_it_does_how_it_repeats_how_long_it_takes_and_how_it_fails(rpc: Rpc):
    sentence = rpc.comment.splitlines()[0] if rpc.comment else ""

    assert re.match(r"[A-Z].*[.,;:\w]$", sentence), "begin the comment with a sentence"
    assert rpc.part("Idempotent"), "say how the call may be repeated"
    assert DEADLINE.match(rpc.part("Deadline") or ""), "say the deadline: a number of s or minutes, or none"
    assert rpc.part("Errors"), "name the error reasons"


@every_rpc
def test_the_reasons_that_a_call_names_are_in_an_enum_with_the_same_code(rpc: Rpc):
    known = reasons("onechat.common.v1") | reasons(rpc.package)
    errors = re.sub(r"\([^)]*\)", "", rpc.part("Errors") or "")

    named: list[tuple[str, str]] = []
    for clause in errors.split(". ")[0].split(";"):
        found = re.match(r"\s*([A-Z_]+) ([A-Z_, ]+)", clause)
        named += [(found[1], reason.strip()) for reason in found[2].split(",")] if found else []

    assert named or errors.startswith("those of every call")
    assert {(code, reason) for code, reason in named if known.get(reason) != code} == set()


@pytest.mark.parametrize("package", sorted({file.package for file in files()}))
def test_each_reason_is_explained_with_a_status_code_and_some_call_gives_it(package):
    said = " ".join(rpc.part("Errors") or "" for rpc in rpcs() if rpc.package == package)

    codes = set(reasons(package).values())
    unused = {reason for reason in reasons(package) if not re.search(rf"\b{reason}\b", said)}

    assert codes <= {code.name for code in grpc.StatusCode}
    assert package == "onechat.common.v1" or unused == set()


@every_rpc
def test_requests_and_responses_have_their_calls_name_and_are_never_shared(rpc: Rpc):
    """A shared message can't grow a field for one of its calls."""
    name = rpc.method.name

    assert rpc.method.input_type == f".{rpc.package}.{name}Request"
    assert rpc.method.output_type == f".{rpc.package}.{name}Response"


def test_a_request_or_response_is_part_of_no_other_message_and_belongs_to_a_call():
    used = {rpc.method.input_type for rpc in rpcs()} | {rpc.method.output_type for rpc in rpcs()}
    fields = {field.type_name for message in messages().values() for field in message.message.field}
    named = {f".{name}" for name in messages() if name.endswith(("Request", "Response"))}

    assert used & fields == set()
    assert named == used


@pytest.mark.parametrize("enum", enums().values(), ids=lambda enum: enum.name)
def test_an_enum_begins_with_unspecified_and_its_values_carry_its_name(enum):
    """0 is what an older caller sends without knowing the field; values share one space in C++."""
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.enum.name).upper()

    first = enum.enum.value[0]

    assert (first.name, first.number) == (f"{words}_UNSPECIFIED", 0)
    assert all(re.fullmatch(rf"{words}_[A-Z0-9_]+", value.name) for value in enum.enum.value)


def fields_that(wrong: Callable[[FieldDescriptorProto], bool]) -> set[str]:
    """The fields of all messages for which `wrong` holds, as onechat.….Message.field."""
    return {
        f"{message.name}.{field.name}"
        for message in messages().values()
        for field in message.message.field
        if wrong(field)
    }


def last_word(field: FieldDescriptorProto) -> str:
    """What a field's name ends in."""
    return field.name.rsplit("_", 1)[-1]


def test_names_are_in_the_style_of_proto3():
    odd = {
        name for name, each in messages().items() if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", each.message.name)
    }

    assert odd == set()
    assert fields_that(lambda field: not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", field.name)) == set()


def test_an_instant_is_a_timestamp_and_named_time():
    def wrong(field: FieldDescriptorProto) -> bool:
        return (field.type_name == TIMESTAMP) != (last_word(field) in {"time", "times"})

    assert fields_that(wrong) == set()


def test_a_period_is_a_duration_which_has_its_unit_itself():
    def wrong(field: FieldDescriptorProto) -> bool:
        if field.type_name == DURATION:
            return last_word(field) in {"s", "ms", "seconds", "minutes"}
        return field.type in NUMBERS and bool(PERIOD_WORDS & set(field.name.split("_")))

    assert fields_that(wrong) == set()


def test_a_size_has_its_unit_in_its_name():
    def wrong(field: FieldDescriptorProto) -> bool:
        sized = field.type in NUMBERS and bool({"size", "bytes"} & set(field.name.split("_")))
        return sized and last_word(field) != "bytes" and field.name != "page_size"

    assert fields_that(wrong) == set()


@pytest.mark.parametrize(
    "rpc",
    [rpc for rpc in rpcs() if rpc.method.name.startswith(("List", "Find", "Search"))],
    ids=lambda r: r.title,
)
def test_a_list_comes_in_pages_from_the_first_day(rpc: Rpc):
    """Pages that are added later break every caller that takes the first for all."""
    request, response = messages()[rpc.method.input_type[1:]], messages()[rpc.method.output_type[1:]]

    names = {field.name: field.type for field in request.message.field}
    paged = (
        names.get("page_size") == FieldDescriptorProto.TYPE_INT32
        and names.get("page_token") == FieldDescriptorProto.TYPE_STRING
        and response.field("next_page_token") is not None
    )

    assert paged != (rpc.title in UNPAGED)


@every_rpc
def test_a_write_takes_a_request_id_or_is_a_named_exception(rpc: Rpc):
    """A caller that lost the answer sends the same again, and nothing happens twice."""
    reads = (rpc.part("Idempotent") or "").startswith("reads only")
    request = messages()[rpc.method.input_type[1:]]
    carriers = [request]
    if rpc.method.client_streaming:  # then the first message is a header
        header = request.field("header")
        carriers += [messages()[header.type_name[1:]]] if header else []

    keyed = any(carrier.field("request_id") for carrier in carriers)

    assert reads or keyed != (rpc.title in KEYED_OTHERWISE)


def test_every_request_id_says_how_long_it_may_be():
    silent = [
        title
        for file in files()
        for title, field, comment in field_comments(file)
        if field.name == "request_id"
        and "Up to 200 ASCII characters" not in comment
        and title
        not in {"Send.request_id", "GetSendRequest.request_id"}  # these name one that was given before
    ]

    assert silent == []


def test_no_exception_names_a_call_that_is_gone():
    titles = {rpc.title for rpc in rpcs()}

    assert (KEYED_OTHERWISE.keys() | UNPAGED.keys()) - titles == set()


def test_no_generated_code_lies_in_the_tree():
    """Stubs are built into a wheel; a copy in the tree would be taken for the truth."""
    assert list(PROTOS.rglob("*_pb2*")) == []
