"""In a UML lab host: this command line, for whoever is outside."""

from causeway.cli import screen
from causeway.cli.app import main
from causeway.hosts.agent import Agent


def do(words: list[str]) -> int:
    """Do a command, and print as whoever asked for it sees it."""
    screen.heed_outside()
    return main(words)


if __name__ == "__main__":
    Agent(do).serve()
