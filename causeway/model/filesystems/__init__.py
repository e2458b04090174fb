"""Filesystems: `driver` says whose they are, and which module of this folder has its rules (`check`)."""

from types import ModuleType

from causeway.model.filesystems import gluster

BY_DRIVER: dict[str, ModuleType] = {"gluster": gluster}
