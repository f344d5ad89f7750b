"""Thrift as a format of Treaty: `treaty_thrift.format.FORMAT`, offered by the entry point group ``treaty.formats``."""
