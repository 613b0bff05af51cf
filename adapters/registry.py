"""Every provider there is: the shipped files, then the operator's folders. A bad file is turned away and named; the rest load."""

import importlib
import importlib.resources
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from groundwire.adapters.adapter import Adapter
from groundwire.adapters.errors import BadProviderFile, FileProblem
from groundwire.adapters.http import HttpClient, Transport
from groundwire.adapters.pricing import PriceList
from groundwire.adapters.provider import Provider
from groundwire.adapters.redaction import Redactor, known_secrets
from groundwire.adapters.spec import ProviderSpec
from groundwire.adapters.specfile import load_spec_file
from groundwire.schemas.settings import ProviderSettings, Settings

PATH_VARIABLE = "GROUNDWIRE_PROVIDER_PATH"


class Registry:
    """Providers by name, one HTTP client for all of them. `problems` are the files that were turned away."""

    def __init__(self, providers: Mapping[str, Provider], problems: list[FileProblem], http: HttpClient) -> None:
        self._providers = dict(providers)
        self.problems = problems
        self._http = http

    @classmethod
    def load(cls, settings: Settings, environ: Mapping[str, str], *, transport: Transport | None = None) -> "Registry":
        """Read all provider files. Never raises for a bad one. `transport` stands in for the network in tests."""
        specs, problems = load_specs(list(dict.fromkeys([*settings.provider_path, *_folders(environ)])))
        return cls.of(specs, problems, settings, environ, transport=transport)

    @classmethod
    def of(
        cls,
        specs: Mapping[str, ProviderSpec],
        problems: list[FileProblem],
        settings: Settings,
        environ: Mapping[str, str],
        *,
        transport: Transport | None = None,
    ) -> "Registry":
        """Providers of specs that are already read."""
        problems = list(problems)
        problems.extend(
            FileProblem(
                Path("settings"), None, f"providers.{name}", f"no such provider; there are {', '.join(sorted(specs))}"
            )
            for name in settings.providers
            if name not in specs
        )
        secrets = [secret for spec in specs.values() for secret in _secrets(spec, _own(settings, spec), environ)]
        redact = Redactor(secrets)
        http = HttpClient(
            max_answer_bytes=settings.fetch.max_answer_bytes,
            trusted_hosts=_trusted_hosts(specs, settings),
            transport=transport,
        )
        providers: dict[str, Provider] = {}
        for name, spec in specs.items():
            own = _own(settings, spec)
            keys = _keys(spec, own, environ)
            options = _options(spec, own, environ)
            adapter = _adapter_class(spec)(
                spec, options, own.base_url, PriceList(spec.price, options, own.price_micro_usd)
            )
            providers[name] = Provider(
                adapter,
                own,
                http=http,
                keys=keys,
                redact=redact,
                missing=_missing(spec, own, keys, options),
                retry_after_cap_s=settings.retry.retry_after_cap_s,
            )
        return cls(providers, problems, http)

    def get(self, name: str) -> Provider:
        """Raises KeyError whose text names the providers there are."""
        try:
            return self._providers[name]
        except KeyError:
            raise KeyError(f"no provider `{name}`; there are {', '.join(self.names())}") from None

    def names(self) -> list[str]:
        return sorted(self._providers)

    async def aclose(self) -> None:
        await self._http.aclose()


def load_specs(folders: list[Path]) -> tuple[dict[str, ProviderSpec], list[FileProblem]]:
    """(specs by name, problems). A later folder's file replaces an earlier one of the same name, unless it is bad."""
    specs: dict[str, ProviderSpec] = {}
    problems: list[FileProblem] = []
    for folder in [shipped_folder(), *folders]:
        if not folder.is_dir():
            problems.append(FileProblem(folder, None, "", "no such folder"))
            continue
        for file in sorted(folder.glob("*.yaml")):
            try:
                spec = load_spec_file(file)
                check_adapter(file, spec)
            except BadProviderFile as error:
                problems.extend(error.problems)
            else:
                specs[spec.name] = spec
    return specs, problems


def shipped_folder() -> Path:
    """Where the shipped provider files are."""
    return Path(str(importlib.resources.files("groundwire.adapters") / "providers"))


def check_adapter(file: Path, spec: ProviderSpec) -> None:
    """Raises BadProviderFile when a file names a dedicated adapter that isn't there."""
    try:
        _adapter_class(spec)
    except (ModuleNotFoundError, AttributeError):
        raise BadProviderFile([FileProblem(file, None, "adapter", "no such module in adapters/dedicated/")]) from None


def _folders(environ: Mapping[str, str]) -> list[Path]:
    return [Path(part) for part in environ.get(PATH_VARIABLE, "").split(os.pathsep) if part.strip()]


def _own(settings: Settings, spec: ProviderSpec) -> ProviderSettings:
    return settings.providers.get(spec.name, ProviderSettings())


def _adapter_class(spec: ProviderSpec) -> type[Adapter]:
    """Raises ModuleNotFoundError or AttributeError."""
    if spec.adapter is None:
        return Adapter
    module = importlib.import_module(f"groundwire.adapters.dedicated.{spec.adapter}")
    found: type[Adapter] = module.ADAPTER
    return found


def _keys(spec: ProviderSpec, own: ProviderSettings, environ: Mapping[str, str]) -> list[str]:
    return known_secrets(environ, spec.keys.env, [key.get_secret_value() for key in own.api_keys])


def _secrets(spec: ProviderSpec, own: ProviderSettings, environ: Mapping[str, str]) -> list[str]:
    """Keys, and the password of an address that has one."""
    password = urlsplit(own.base_url or "").password
    return [*_keys(spec, own, environ), *([password, unquote(password)] if password else [])]


def _options(spec: ProviderSpec, own: ProviderSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """Settings, then environment, then the file's default."""
    found: dict[str, str] = {}
    for name, option in spec.options.items():
        value = (
            own.options.get(name)
            or next((environ[env] for env in option.env if environ.get(env)), None)
            or option.default
        )
        if value is not None:
            found[name] = value
    return found


def _missing(spec: ProviderSpec, own: ProviderSettings, keys: list[str], options: Mapping[str, str]) -> str | None:
    """Why the provider can't be used, with what to do about it."""
    if not own.enabled:
        return "switched off"
    if spec.request.base_url is None and own.base_url is None:
        return f"no base_url: set GROUNDWIRE_PROVIDERS__{spec.name.upper()}__BASE_URL"
    if spec.keys.required and not keys:
        return f"no key: set {spec.keys.env[0]}"
    for name, option in spec.options.items():
        if option.required and name not in options:
            place = (
                option.env[0] if option.env else f"GROUNDWIRE_PROVIDERS__{spec.name.upper()}__OPTIONS__{name.upper()}"
            )
            return f"no {name}: set {place}"
        if option.choices is not None and name in options and options[name] not in option.choices:
            return f"option {name} is `{options[name]}`; choose one of {', '.join(option.choices)}"
    unknown = sorted(set(own.options) - set(spec.options))
    if unknown:
        return f"no option `{unknown[0]}`; there are {', '.join(sorted(spec.options)) or 'none'}"
    return None


def _trusted_hosts(specs: Mapping[str, ProviderSpec], settings: Settings) -> frozenset[str]:
    """Hosts that may be private: those the operator or a provider file names as such."""
    addresses = [own.base_url for own in settings.providers.values() if own.base_url]
    addresses += [
        spec.request.base_url for spec in specs.values() if spec.request.private_addresses and spec.request.base_url
    ]
    return frozenset(host for host in (urlsplit(address).hostname for address in addresses) if host)
