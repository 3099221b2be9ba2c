"""A linked account in the real library's session file, made by hand: no phone was asked.

Its keys are random bytes of the right lengths, which is all that the schema checks.
"""

import random
from pathlib import Path

import apsw

from tests.fakes.whatsapp_account import WhatsAppAccount


def link_by_hand(session: Path, account: WhatsAppAccount, seed: int = 1) -> None:
    """Put the device of `account`, its contacts and LIDs into a session file that the library has made."""
    assert account.me
    own, lid = (each.replace("@", ":7@") for each in (account.me.number, account.me.lid))
    key = random.Random(seed).randbytes
    device = {
        "jid": own,
        "lid": lid,
        "registration_id": 1,
        "noise_key": key(32),
        "identity_key": key(32),
        "signed_pre_key": key(32),
        "signed_pre_key_id": 1,
        "signed_pre_key_sig": key(64),
        "adv_key": key(32),
        "adv_details": key(16),
        "adv_account_sig": key(64),
        "adv_account_sig_key": key(32),
        "adv_device_sig": key(64),
        "push_name": account.me.push_name,
    }
    with apsw.Connection(str(session)) as db:
        db.execute(
            f"INSERT INTO whatsmeow_device ({', '.join(device)}) VALUES ({', '.join('?' * len(device))})",
            tuple(device.values()),
        )
        for each in account.contacts:
            db.execute(
                "INSERT INTO whatsmeow_contacts (our_jid, their_jid, full_name, first_name, push_name,"
                " business_name) VALUES (?, ?, ?, ?, ?, ?)",
                (own, each.id, each.full_name, each.first_name or None, each.push_name, None),
            )
        for number, other in account.lids.items():
            db.execute(
                "INSERT INTO whatsmeow_lid_map (lid, pn) VALUES (?, ?)",
                (other.split("@")[0], number.split("@")[0]),
            )
