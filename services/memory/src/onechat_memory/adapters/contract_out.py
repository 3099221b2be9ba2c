"""What answers say, in the contract's nouns: domain/messages.py in, onechat.memory.v1 out.

What requests say: contract_in.py.
"""

from datetime import datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.memory.v1 import log_pb2, message_pb2, stats_pb2

from onechat_memory.adapters.contract_in import KINDS, SHAPES, STATES
from onechat_memory.domain.lines import PLACEHOLDER, flat
from onechat_memory.domain.messages import Log, Message, Stats
from onechat_memory.domain.tree import Node

_SHAPE_NUMBERS: Final = {shape: number for number, shape in SHAPES.items()}
_STATE_NUMBERS: Final = {state: number for number, state in STATES.items()}
_KIND_NUMBERS: Final = {kind: number for number, kind in KINDS.items()}


def log_to_proto(log: Log) -> log_pb2.Log:
    """A log as the contract has it."""
    asked = log.asked
    return log_pb2.Log(
        log_id=asked.id,
        label=asked.label,
        shape=_SHAPE_NUMBERS[asked.shape],
        state=_STATE_NUMBERS[asked.state],
        chat_view=log_pb2.ViewLimits(high_bytes=asked.chat.high, low_bytes=asked.chat.low),
        compaction_view=log_pb2.ViewLimits(high_bytes=asked.compaction.high, low_bytes=asked.compaction.low),
        generation=log.generation,
        length=log.length,
        create_time=timestamp(log.create_time),
    )


def message_to_proto(message: Message) -> message_pb2.Message:
    """A message as the contract has it."""
    body = message.body
    return message_pb2.Message(
        id=message.id,
        key=body.key,
        kind=_KIND_NUMBERS[body.kind],
        text=body.text,
        time=timestamp(body.time),
        zone=body.zone,
        source=body.source,
        turn=body.turn,
        step=body.step,
        call=body.call,
        images=body.images,
        part=message.part,
        parts=message.parts,
    )


def line_to_proto(node: Node, text: str | None) -> message_pb2.Line:
    """A line as the contract has it; `text` is None while the node is not built."""
    return message_pb2.Line(
        first_id=node.first,
        count=node.count,
        text=PLACEHOLDER if text is None else flat(text),
        built=text is not None,
    )


def stats_to_proto(stats: Stats) -> stats_pb2.GetLogStatsResponse:
    """A log's figures as the contract has them."""
    return stats_pb2.GetLogStatsResponse(
        log=log_to_proto(stats.log),
        built_nodes=stats.built,
        ready_nodes=stats.ready,
        failing_nodes=stats.failing,
        degraded_nodes=stats.degraded,
        unbuilt_leaves=stats.unbuilt_leaves,
        view_bytes=stats.chat_bytes,
        view_lines=stats.chat_lines,
        compaction_view_bytes=stats.compaction_bytes,
        compaction_view_lines=stats.compaction_lines,
        batches=stats.batches,
        batch_owed=stats.batch_owed,
        model_lines=stats.costs.lines,
        model_calls=stats.costs.calls,
        over_length_answers=stats.costs.over_length,
        retries=stats.costs.retries,
        searchable_messages=stats.searchable,
    )


def timestamp(instant: datetime) -> Timestamp:
    """An aware instant as the contract has it."""
    made = Timestamp()
    made.FromDatetime(instant)
    return made
