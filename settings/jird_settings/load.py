"""From jird.toml and the environment to Settings, or to one clear line that says what is wrong."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jird_settings.declare import Setting, settings_of
from jird_settings.error import SettingsError, shorten
from jird_settings.secret import Secret, read_admin_token
from jird_settings.source import Source, checked, read_source
from jird_settings.tables import Content, Crawl, HostRule, Index, Log, Net, Search, Service, Storage, Web

CONFIG_VARIABLE = "JIRD_CONFIG"
DEFAULT_CONFIG = Path("/etc/jird/jird.toml")
HOST_RULES_MAX = 10_000

# TOML table to its class, in the order of the documentation.
TABLES: Mapping[str, type] = {
    "storage": Storage, "web": Web, "network": Net, "crawl": Crawl, "content": Content, "index": Index,
    "search": Search, "service": Service, "log": Log,
}  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, checked. Parts take the table they need as an argument."""

    storage: Storage = Storage()
    web: Web = Web()
    network: Net = field(default_factory=Net)
    crawl: Crawl = Crawl()
    content: Content = Content()
    index: Index = Index()
    search: Search = Search()
    service: Service = Service()
    log: Log = Log()
    hosts: tuple[HostRule, ...] = ()
    admin_token: Secret | None = field(default=None, repr=False)


def config_path(given: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read: the given one, else JIRD_CONFIG's, else /etc/jird/jird.toml if it is there, else none."""
    if given is not None:
        return given
    if environ.get(CONFIG_VARIABLE):
        return Path(environ[CONFIG_VARIABLE])
    return DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """Read and check the configuration.

    Args:
        path: The file; None leaves the choice to `config_path`.
        environ: The environment; a variable that is set to something wins over the file.

    Raises:
        SettingsError: Something cannot be used. The message is one line with the place, the setting, the value and what
            is allowed.
    """
    chosen = config_path(path, environ)
    source = Source("", {}, {}) if chosen is None else read_source(chosen)
    source.refuse_unknown((), [*TABLES, "hosts"])
    tables: dict[str, Any] = {name: _table(kind, name, source, environ) for name, kind in TABLES.items()}
    return _settle(Settings(**tables, hosts=_host_rules(source), admin_token=read_admin_token(environ)))


def refuse_open_admin(settings: Settings) -> None:
    """Refuse to listen beyond loopback while anyone could administer (J53, J100). For who knows the token.

    Raises:
        SettingsError: web.bind is not loopback, there is no admin token, and web.admin is not "off".
    """
    web = settings.web
    if is_loopback(web.bind) or web.admin == "off":
        return
    if web.admin == "local":
        raise SettingsError(f'web.admin is "local" and web.bind is {web.bind}; "local" needs a loopback address')
    if settings.admin_token is None:
        raise SettingsError(
            f"web.bind is {web.bind} and there is no admin token; give one (the credential admin-token or "
            'JIRD_ADMIN_TOKEN), set web.admin = "off", or bind to 127.0.0.1, ::1 or localhost'
        )


def is_loopback(bind: str) -> bool:
    """Whether an address as `web.bind` has it is one of this machine alone: 127.0.0.1, ::1 or localhost (J100)."""
    return bind in {"127.0.0.1", "::1", "localhost"}


def _table(kind: type[T], name: str, source: Source, environ: Mapping[str, str]) -> T:
    raw = source.table((name,), source.data.get(name, {}))
    if raw:
        source.refuse_unknown((name,), [declared.name for declared in settings_of(kind)])
    values = {}
    for declared in settings_of(kind):
        if declared.name in raw:
            path = (name, declared.name)
            values[declared.name] = checked(declared, raw[declared.name], f"{name}.{declared.name}", source.place(path))
        if environ.get(declared.env):
            values[declared.name] = _from_environment(declared, environ[declared.env], f"{name}.{declared.name}")
    return kind(**values)


def _host_rules(source: Source) -> tuple[HostRule, ...]:
    raw = source.data.get("hosts", [])
    if not isinstance(raw, list) or len(raw) > HOST_RULES_MAX or not all(isinstance(rule, dict) for rule in raw):
        raise SettingsError(f"{source.place(('hosts',))}: hosts must be at most {HOST_RULES_MAX} [[hosts]] tables")
    rules = []
    for number, rule in enumerate(raw):
        source.refuse_unknown(("hosts", number), [declared.name for declared in settings_of(HostRule)])
        if "match" not in rule:
            raise SettingsError(f"{source.place(('hosts', number))}: hosts.match is not set; it must name the hosts")
        values = {
            declared.name: checked(
                declared, rule[declared.name], f"hosts.{declared.name}", source.place(("hosts", number, declared.name))
            )
            for declared in settings_of(HostRule)
            if declared.name in rule
        }
        rules.append(HostRule(**values))
    return tuple(rules)


def _from_environment(declared: Setting, text: str, name: str) -> Any:
    try:
        return declared.kind.read_text(text)
    except (ValueError, OverflowError):
        raise SettingsError(f"{declared.env} ({name}) is {shorten(text)}; it must be {declared.kind.allowed}") from None


def _settle(settings: Settings) -> Settings:
    """Apply the bounds that settings put on each other (J65, J67)."""
    web, crawl, service = settings.web, settings.crawl, settings.service
    return dataclasses.replace(
        settings,
        web=dataclasses.replace(web, max_connections_per_ip=min(web.max_connections_per_ip, web.max_connections)),
        crawl=dataclasses.replace(crawl, retry_max_ms=max(crawl.retry_max_ms, crawl.retry_base_ms)),
        service=dataclasses.replace(service, restart_max_ms=max(service.restart_max_ms, service.restart_base_ms)),
    )
