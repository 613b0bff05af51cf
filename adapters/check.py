"""What `providers check` does: read a provider file, then run its fixtures against it."""

from dataclasses import dataclass, field
from pathlib import Path

from groundwire.adapters.errors import BadProviderFile, FileProblem
from groundwire.adapters.fixtures import load_fixture, run_fixture
from groundwire.adapters.registry import check_adapter
from groundwire.adapters.specfile import load_spec_file


@dataclass(slots=True)
class FileCheck:
    """One provider file's verdict. `fixtures` were run; no problems means that all of them came out as they say."""

    file: Path
    name: str
    fixtures: int = 0
    problems: list[FileProblem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def fixtures_of(file: Path, folders: list[Path] | None = None) -> list[Path]:
    """The fixtures of a provider file: in `fixtures/<name>/` beside it, and in the same place under each folder given."""
    places = [file.parent / "fixtures", *(folders or [])]
    return [case for place in places for case in sorted((place / file.stem).glob("*.yaml"))]


async def check_file(file: Path, folders: list[Path] | None = None) -> FileCheck:
    """Never raises for what a file says."""
    check = FileCheck(file, file.stem)
    try:
        spec = load_spec_file(file)
        check_adapter(file, spec)
    except BadProviderFile as error:
        check.problems.extend(error.problems)
        return check
    for path in fixtures_of(file, folders):
        try:
            fixture = load_fixture(path)
        except BadProviderFile as error:
            check.problems.extend(error.problems)
            continue
        check.fixtures += 1
        check.problems.extend(FileProblem(path, None, "", found) for found in await run_fixture(spec, fixture))
    return check
