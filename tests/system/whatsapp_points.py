"""At which steps of the whatsapp service a run is struck: its named places, and around each of its commits.

Which places and commits there are is read from the source, and must agree with these lists. A step's name is
that of five_services_points.py.
"""

from collections.abc import Mapping
from typing import Final

from tests.fakes.five_services_points import COMMIT_OF, PLACE, Point

_OURS: Final = f"{COMMIT_OF}onechat_whatsapp."
_READ: Final = "onechat_whatsapp.batching:Batching.take"
_HANDED: Final = f"{COMMIT_OF}onechat_runtime.outbox._hand_over"  # a parcel is forgotten, with its hand-over

#: Places, each with the pass at which a process ends. The second hand-over is one of a batch by itself: the
#: next process finds out that it was made, and passes the last place.
PLACES: Final[Mapping[str, int]] = {
    "messages_taken": 1,
    "batches_closed": 1,
    "batches_released": 1,
    "handing_batches_over": 1,
    "sending": 1,
    "sent": 1,
    "recorded": 1,
    "batches_handed_over": 2,
    "batch_forgotten": 1,
}
#: Functions that commit, each with the passes around which a process ends.
COMMITS: Final[Mapping[str, tuple[int, ...]]] = {
    "sending.open": (1,),
    "link.change": (1, 2),
    "batching.release": (1,),
    "batching._round": (1, 2),
    "batching._store_pending": (1, 3),
    "batching.merge": (1,),
    "handover._begin": (1,),
    "sending._sent": (1,),
    "sending._kept": (1,),
    "silence._came": (1,),
    "silence._keep": (1,),
    "silence._note": (1,),
    "silence._forget": (1,),
}
OTHERS: Final = {  #: functions that commit and that no run passes, or not by that name
    "connecting.unlink": "needs an unlinking: the gateway's own test_unlinking.py",
    "pairing._fail": "needs a pairing: the gateway's own test_pairing.py",
    "handover._forget": "the place batch_forgotten, whose turn comes by what another strike leaves",
    "link._ended": "commits in link.change",
    "link.hear": "commits in link.change",
    "link.open": "commits in link.change",
    "link.run": "commits in link.change",
    "silence._tell_silence": "needs a week",
    "silence._tell_missing": "needs an hour",
}
QUICK: Final = (  #: those that every run of the tests passes
    Point(step=f"{_OURS}batching._store_pending", side="before", nth=1),
    Point(step=f"{PLACE}batches_released", side="after", nth=1),
    Point(step=f"{PLACE}sending", side="after", nth=1),
    Point(step=f"{PLACE}sent", side="after", nth=1),
    Point(step=f"{PLACE}batches_handed_over", side="after", nth=2),
    Point(step=f"{_OURS}sending._kept", side="after", nth=1),
)


def points() -> list[Point]:
    """Every place, and both sides of what has two."""
    commits = [(f"{_OURS}{name}", nth) for name, passes in COMMITS.items() for nth in passes]
    return [
        *(
            Point(step=step, side=side, nth=nth)
            for step, nth in [(_READ, 1), *commits, (_HANDED, 1), (_HANDED, 2)]
            for side in ("before", "after")
        ),
        *(Point(step=f"{PLACE}{place}", side="after", nth=nth) for place, nth in PLACES.items()),
    ]
