"""Calls on aliases."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.http import if_match_header
from relevance_bayes.client.paths import part
from relevance_bayes.client.responses import Json
from relevance_bayes.records.models import Alias, AliasMove
from relevance_bayes.records.pages import Page


@dataclass(frozen=True)
class Aliases(Calls[M]):
    """Aliases of the versions of a model; every method raises ClientError as those of `Client` do."""

    @listing
    def all(self, model: str) -> AsyncGenerator[Alias, None]:
        """Return a model's aliases, by name."""
        return self.http.pages(Page[Alias], _path(model))

    @call
    async def get(self, model: str, alias: str) -> Alias:
        """Return an alias."""
        return await self.http.get(Alias, _path(model, alias))

    @call
    async def with_etag(self, model: str, alias: str) -> tuple[Alias, str]:
        """Return an alias with its entity tag, for `if_match`."""
        return await self.http.tagged(Alias, _path(model, alias))

    @call
    async def move(
        self,
        model: str,
        alias: str,
        version: int | str,
        *,
        reason: str | None = None,
        if_match: str | None = None,
        new: bool = False,
    ) -> Alias:
        """Move an alias to a version, given by number or by another alias; create it if absent.

        With `if_match`, only if the alias still has this entity tag; with `new`, only if it does not exist. Otherwise
        raises a ClientError of status 412.
        """
        body: Mapping[str, Json] = {"version": version} | ({} if reason is None else {"reason": reason})
        headers = if_match_header(if_match) | ({"If-None-Match": "*"} if new else {})
        return await self.http.put(Alias, _path(model, alias), body, headers=headers)

    @call
    async def delete(self, model: str, alias: str, *, reason: str | None = None, if_match: str | None = None) -> None:
        """Delete an alias; its history is kept."""
        await self.http.delete(_path(model, alias), {"reason": reason}, headers=if_match_header(if_match))

    @listing
    def history(self, model: str, alias: str) -> AsyncGenerator[AliasMove, None]:
        """Return the moves of an alias, newest first."""
        return self.http.pages(Page[AliasMove], f"{_path(model, alias)}/history")


def _path(model: str, alias: str | None = None) -> str:
    aliases = f"/v1/models/{part(model)}/aliases"
    return aliases if alias is None else f"{aliases}/{part(alias)}"
