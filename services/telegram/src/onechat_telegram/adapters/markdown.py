"""Markdown as Telegram's text and entities, by telegramify-markdown, with nothing of the text lost.

That library drops or changes what Telegram can't show (HTML, addresses in tables, formulas). So such places
are escaped first (literal_markdown.py) and come out as they were written; afterwards its entities are put
right (domain/entities.py). How long texts are split: domain/splitting.py.
"""

from onechat_runtime import logs
from telegramify_markdown import RenderConfig, convert
from telegramify_markdown.entity import MessageEntity

from onechat_telegram.adapters.literal_markdown import literal
from onechat_telegram.domain.entities import ENTITIES_MAX, Entity, Rendered, cleaned
from onechat_telegram.domain.utf16 import units

log = logs.get(__name__)


def _looks() -> RenderConfig:
    """How headings, lists and tasks look: plain signs that every font has."""
    config = RenderConfig.isolated()
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    symbols.task_completed, symbols.task_uncompleted = "☑", "☐"
    config.cite_expandable = False
    return config


_LOOKS = _looks()


def render(source: str) -> Rendered | None:
    """What `source` looks like in Telegram; None where the library fails on it, which is logged."""
    try:
        text, entities = convert(literal(source), latex_escape=False, config=_LOOKS)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of the parser in Rust is no Exception
        log.warning("render_failed", error=type(error).__name__, letters=len(source))
        return None
    return _trimmed(text, [_entity(entity) for entity in entities])


def _entity(entity: MessageEntity) -> Entity:
    return Entity(
        type=entity.type,
        offset=entity.offset,
        length=entity.length,
        url=entity.url or "",
        language=entity.language or "",
    )


def _trimmed(text: str, entities: list[Entity]) -> Rendered:
    """Without the blank lines around it, which Telegram would cut, moving the text away from its entities."""
    start = len(text) - len(text.lstrip("\n"))
    shift = units(text[:start])
    shown = text[start:].rstrip()
    moved = [
        Entity(
            type=entity.type,
            offset=max(0, entity.offset - shift),
            length=entity.length - max(0, shift - entity.offset),
            url=entity.url,
            language=entity.language,
        )
        for entity in entities
    ]
    if (
        len(moved) > 4 * ENTITIES_MAX
    ):  # will be split whatever the cleaning leaves, and that takes their square
        return Rendered(text=shown, entities=tuple(moved))
    return Rendered(text=shown, entities=cleaned(shown, moved))
