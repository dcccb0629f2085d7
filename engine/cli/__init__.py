"""The commands that need no picture: run, plan, check, devices. No Qt in here."""

from .main import main

__all__ = ["main"]
