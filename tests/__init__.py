"""What all members test with, and what holds them together.

A package by this file, since linkpreview, which neonize needs, installs one of the same name: it would hide a
folder without one.
"""
