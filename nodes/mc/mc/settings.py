"""mcchconfig, mclsconfig: the cluster's attributes."""

import argparse

from mc import config as configuration
from mc import drivers, states
from mc.config import Config
from mc.native import Refused
from mc.table import show


def change(args: argparse.Namespace) -> None:
    """Change an attribute: cipherList=AUTHONLY (keys are used from then on), pingTimeout=SECONDS.

    Native: {attributes}; `ssh` asks whether daemons are down; changes `gen/settings`;
    `tar` and `ssh` give it to all nodes.
    """
    attribute, _, value = args.setting.partition("=")
    with configuration.change() as config:
        known = {"cipherList": _cipher_list, **drivers.of(config).ATTRIBUTES}
        if attribute not in known:
            raise Refused(f"there is no attribute {attribute!r}; the attributes are {', '.join(known)}")
        known[attribute](config, value)
        config.settings[attribute] = value
    print(f"{attribute} is {value} in cluster {config.name}")


def show_all(args: argparse.Namespace) -> None:
    """List the attributes."""
    config = configuration.load()
    about = {"clusterName": config.name, "clusterId": config.id}
    show(["attribute", "value"], [*(about | config.settings).items()], args.json)


def _cipher_list(config: Config, value: str) -> None:
    if value != "AUTHONLY":
        raise Refused(f"cipherList={value}: use AUTHONLY (what is sent is encrypted then, too)")
    if drivers.of(config).KEYS.in_use(config.ssl) is None:
        raise Refused("you must first generate a key: mcauth genkey new")
    states.need_all_down(config, "a new cipherList")
