"""Group chats of any platform: who is answered, what is learned silently, who may command, who is admitted.

No platform's own word stands here. A platform brings an adapter (ports.py) that turns what it hears into the
one form of domain/messages.py; tests/contract/test_group_adapters_alike.py says what each adapter promises.

    listening.py   what an adapter heard → judged, recorded, answered
    detectors.py   simple, model and hybrid
    privates.py    a member's private chat, and which group it means
    admin.py       /bot status, /bot clear-memory
    admission.py   the bot is added, confirmed, refused, removed; settings
    departing.py   what the owner is told of groups that are left unasked
    batching.py    closes batches in time
    deliveries.py  hands over to the agent service, by the runtime's outbox
    replies.py     the agent's answers, back to where they were asked
    wiring.py      all of it put together
    rows.py, heard_rows.py, batch_rows.py, private_rows.py   the tables of migrations/0003_groups.sql
"""
