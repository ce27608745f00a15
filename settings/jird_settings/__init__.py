"""The settings of jird: each is declared once, in tables.py, and parsed, checked and documented from there.

Used by the daemon, the frontend and the command line; imports nothing of theirs.
"""

from jird_settings.criterium import CriteriumError, UrlView, compile_criterium
from jird_settings.error import SettingsError
from jird_settings.glob import glob_expression
from jird_settings.hosts import rule_for
from jird_settings.load import Settings, config_path, is_loopback, load, refuse_open_admin
from jird_settings.secret import Secret
from jird_settings.tables import (
    UNCONFIGURED_USER_AGENT,
    Content,
    Crawl,
    HostRule,
    Index,
    Log,
    Net,
    Search,
    Service,
    Storage,
    Web,
)

__all__ = [
    "UNCONFIGURED_USER_AGENT",
    "Content",
    "Crawl",
    "CriteriumError",
    "HostRule",
    "Index",
    "Log",
    "Net",
    "Search",
    "Secret",
    "Service",
    "Settings",
    "SettingsError",
    "Storage",
    "UrlView",
    "Web",
    "compile_criterium",
    "config_path",
    "glob_expression",
    "is_loopback",
    "load",
    "refuse_open_admin",
    "rule_for",
]
