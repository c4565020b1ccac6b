"""Applies the rules in `[sign_in]`: who may sign in, and in which role."""

from __future__ import annotations

from dataclasses import dataclass

from callgauge.configuration.settings import SignInSettings
from callgauge.serving.identity import User
from callgauge.serving.sign_in.users_file import UsersFile, UsersFileError


@dataclass(frozen=True, slots=True)
class Identity:
    """The facts about a person that a sign-in method has proved.

    `name` is an e-mail address or a user name in lower case. `groups` come from the identity provider or the
    proxy. `stamp` changes when the person's entry in the users file changes.
    """

    name: str
    groups: tuple[str, ...] = ()
    stamp: str = ""


class Admission:
    """Decides at every request who has access, so that a removed user loses access immediately."""

    def __init__(self, settings: SignInSettings, users: UsersFile | None = None) -> None:
        self._settings = settings
        self._users = users
        self._admins = _lower(settings.admins)
        self._named = _lower(settings.users) | self._admins
        self._domains = {domain.removeprefix("@") for domain in _lower(settings.domains)}
        self._admin_groups = set(settings.admin_groups)
        self._groups = set(settings.groups) | self._admin_groups

    def admit(self, identity: Identity) -> User | None:
        """Return the user for an identity. Return None if the identity has no access."""
        if self._users is not None:
            return self._admit_listed(identity, self._users)
        groups = set(identity.groups)
        domain = identity.name.rpartition("@")[2] if "@" in identity.name else None
        # without rules, everyone whom the proxy lets through is admitted
        is_open = not (self._named or self._domains or self._groups)
        if not (is_open or identity.name in self._named or domain in self._domains or groups & self._groups):
            return None
        is_admin = identity.name in self._admins or bool(groups & self._admin_groups)
        return User(identity.name, "admin" if is_admin else "viewer", may_write=True)

    def keep_groups(self, groups: tuple[str, ...]) -> tuple[str, ...]:
        """Return the groups that appear in the rules. The cookie stores only these groups."""
        return tuple(group for group in groups if group in self._groups)

    def _admit_listed(self, identity: Identity, users: UsersFile) -> User | None:
        try:
            listed = users.find(identity.name)
        except UsersFileError:
            return None  # a users file that was damaged after the start gives nobody access
        if listed is None or listed.stamp != identity.stamp:
            return None
        return User(listed.name, listed.role, may_write=True)


def _lower(names: tuple[str, ...]) -> set[str]:
    return {name.strip().lower() for name in names}
