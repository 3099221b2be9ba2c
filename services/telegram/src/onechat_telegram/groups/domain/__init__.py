"""The rules of group chats. Pure: the standard library alone, no clock, no chance."""
