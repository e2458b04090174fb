"""In a UML lab host: this command line, for whoever is outside."""

from importlib import import_module

from causeway.cli import app, screen
from causeway.hosts.agent import Agent
from causeway.lab import clock


def do(words: list[str]) -> int:
    """Do a command, and print as whoever asked for it sees it."""
    screen.heed_outside()
    return app.main(words)


if __name__ == "__main__":
    # each command is done by a child, which is to find loaded whatever it needs
    app.app()
    import_module("causeway.cli.inside")
    Agent(do, clock.paced).serve()
