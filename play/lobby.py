"""The lobby: what can be played and opened, sitting down at a table, and maps to play on."""

from __future__ import annotations

from functools import partial

from common.errors import MasqueradeError
from play.advice import send_advisers
from play.catalogue import game_of, rules_of
from play.maps import board_of, keep_map, read_map, saved_maps
from play.messages import (
    ChooseLayout,
    Create,
    Join,
    Joined,
    LoadMap,
    Lobby,
    LobbyNews,
    MapsNews,
    Open,
    OpenTournament,
    Players,
    PlayersNews,
    RulesNews,
    SaveMap,
    SeatChoice,
)
from play.moves import drive
from play.session import Session, hashed, new_secret
from play.table import Table, TableSeat
from play.tables import Browser, Tables


async def show_lobby(tables: Tables, browser: Browser, message: Lobby) -> None:
    """Send the games, and the tables and files that can be opened."""
    games, run = tables.catalogue.games(), tables.thinkers.run
    browser.send(
        LobbyNews(
            games=games,
            files=await run(tables.library.listing),
            tournaments=await run(tables.library.tournaments),
            cold=[card.id for card in games if tables.compiler.is_cold(card.id)],
            first=tables.first,
        )
    )


async def show_tournament(tables: Tables, browser: Browser, message: OpenTournament) -> None:
    """Send the games of a tournament."""
    browser.send(await tables.thinkers.run(partial(tables.library.games_of, message.name)))


async def show_players(tables: Tables, browser: Browser, message: Players) -> None:
    """Send the form for a new table."""
    await tables.compiler.wait(browser.send, message.game)

    def describe() -> PlayersNews:
        return tables.catalogue.describe(game_of(message.game, message.options))

    browser.send(await tables.thinkers.run(describe))


async def set_screen(tables: Tables, browser: Browser, message: ChooseLayout) -> None:
    """Lay pictures out for a screen of another width."""
    browser.layout = message.layout
    for table_id in browser.places:
        if table_id in tables.sessions:
            browser.show(tables.sessions[table_id])


# ---- sitting down --------------------------------------------------------------------------------


async def open_game(tables: Tables, browser: Browser, message: Open) -> None:
    """Open a game that was kept, to step through it."""
    opened = await tables.thinkers.run(partial(tables.library.read, message.name))
    title = tables.catalogue.card(opened.game.id).title
    session = Session(new_secret(), opened, title, kept=message.name)
    tables.admit(session)
    _sit(tables, browser, session, [], name=message.name)


async def create(tables: Tables, browser: Browser, message: Create) -> None:
    """Make a table; without seats, the one a newcomer gets."""
    await tables.compiler.wait(browser.send, message.game)
    card = tables.catalogue.card(message.game)
    usual = card.options if message.seats is None else {}
    options = {**usual, **message.options}

    def prepare() -> tuple[Table, str, dict[int, str]]:
        game = game_of(message.game, options)
        chosen = message.seats or tables.catalogue.usual_seats(game)
        seats, key, invites = _seats(chosen)
        table = Table(game, seats, tables.agents(game, seats))
        table.begin()
        return table, key, invites

    table, key, invites = await tables.thinkers.run(prepare)
    pace = tables.pace if message.pace is None else message.pace
    session = Session(new_secret(), table, card.title, pace)
    await tables.write(session)  # what cannot be kept is not begun
    tables.admit(session)
    _join(tables, browser, session, key, invites)


async def join(tables: Tables, browser: Browser, message: Join) -> None:
    """Sit down with a key or an invitation, or watch agents."""
    session = await tables.find(message.table)
    key = message.key
    if message.invite:
        key = session.accept(message.invite)
        await tables.keep(session)
        tables.tell_table(session)
    _join(tables, browser, session, key, {})


def _join(
    tables: Tables, browser: Browser, session: Session, key: str, invites: dict[int, str]
) -> None:
    seats = session.seats_of(key)
    if not seats and not session.is_open:
        raise MasqueradeError("this key opens no seat at the table: ask for an invitation")
    _sit(tables, browser, session, seats, key, invites)
    browser.send(RulesNews(table=session.id, rules=rules_of(session.game)))
    drive(tables, session)


def _sit(
    tables: Tables,
    browser: Browser,
    session: Session,
    seats: list[int],
    key: str = "",
    invites: dict[int, str] | None = None,
    **opened: str,
) -> None:
    browser.sit(session.id, seats)
    about = {"table": session.id, "game": session.game.id, **opened}
    browser.send(Joined(**about, key=key, invites=invites or {}))
    browser.send(session.describe(seats))
    browser.show(session)
    send_advisers(tables, browser, session)


def _seats(chosen: list[SeatChoice]) -> tuple[list[TableSeat], str, dict[int, str]]:
    """Seats, the key of whoever makes the table, and an invitation for each guest."""
    key, invites, seats = "", dict[int, str](), []
    people = [choice for choice in chosen if choice.who != "agent"]
    if any(choice.who == "me" for choice in people):
        key = new_secret()
    for number, choice in enumerate(chosen):
        if choice.who == "agent":
            params = {} if choice.seconds is None else {"seconds": choice.seconds}
            seats.append(TableSeat(choice.name or choice.agent, choice.agent, params))
        elif choice.who == "me":
            name = choice.name or ("You" if len(people) == 1 else f"Player {number}")
            seats.append(TableSeat(name, key=hashed(key)))
        else:
            invites[number] = new_secret()
            seats.append(
                TableSeat(choice.name or f"Guest {number}", invite=hashed(invites[number]))
            )
    return _distinct(seats), key, invites


def _distinct(seats: list[TableSeat]) -> list[TableSeat]:
    """Agents of one kind in several seats are told apart by numbers."""
    names = [seat.name for seat in seats]
    for number, seat in enumerate(seats):
        if names.count(names[number]) > 1 and not seat.is_person:
            seat.name = f"{names[number]} {names[: number + 1].count(names[number])}"
    return seats


# ---- maps ----------------------------------------------------------------------------------------


async def save_map(tables: Tables, browser: Browser, message: SaveMap) -> None:
    """Save the map of a table."""
    table = tables.own(browser, message, None).table
    board = board_of(table.game, table.position.state)
    if board is None:
        raise MasqueradeError("this game has no map")
    path = await tables.thinkers.run(lambda: keep_map(message.name, board.to_text()))
    browser.send(MapsNews(table=message.table, maps=saved_maps(), saved=path))


async def load_map(tables: Tables, browser: Browser, message: LoadMap) -> None:
    """Add a board file of the person's own to the maps."""

    def keep() -> str:
        return keep_map(message.name, read_map(message.text))

    path = await tables.thinkers.run(keep)
    browser.send(MapsNews(table="", maps=saved_maps(), saved=path))
