"""Telegram's own side of group chats: what groups/ asks of a platform.

What Telegram sends is read here (events.py, messages.py, both pure), taken to the groups in order
(hearing.py), and what groups ask for is done (adapter.py). How it is put together: wiring.py.
"""
