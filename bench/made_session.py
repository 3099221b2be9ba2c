"""A WhatsApp session in the library's own file, with an account that no phone has linked."""

import random
from pathlib import Path
from typing import Final

import apsw
from onechat_whatsapp.wire.ports import Me

_BYTES: Final = {  # keys at random: their lengths are all that the file's schema checks
    "noise_key": 32,
    "identity_key": 32,
    "signed_pre_key": 32,
    "signed_pre_key_sig": 64,
    "adv_key": 32,
    "adv_details": 16,
    "adv_account_sig": 64,
    "adv_account_sig_key": 32,
    "adv_device_sig": 64,
}


def link(session: Path, me: Me, contacts: int) -> None:
    """Put a device of `me` and so many contacts, each with a LID, into a file that the library has made."""
    rng = random.Random(1)
    own, lid = (each.replace("@", ":7@") for each in (me.number, me.lid))
    device: dict[str, str | int | bytes] = {"jid": own, "lid": lid, "push_name": me.push_name}
    device |= {"registration_id": 1, "signed_pre_key_id": 1}
    device |= {name: rng.randbytes(length) for name, length in _BYTES.items()}
    people = [f"1556{number:07}" for number in range(contacts)]
    with apsw.Connection(str(session)) as db:
        db.execute(
            f"INSERT INTO whatsmeow_device ({', '.join(device)}) VALUES ({', '.join('?' * len(device))})",
            tuple(device.values()),
        )
        db.executemany(
            "INSERT INTO whatsmeow_contacts (our_jid, their_jid, full_name, push_name) VALUES (?, ?, ?, ?)",
            [(own, f"{each}@s.whatsapp.net", f"Somebody {each}", "somebody") for each in people],
        )
        db.executemany(
            "INSERT INTO whatsmeow_lid_map (lid, pn) VALUES (?, ?)", [(f"9{each}", each) for each in people]
        )
