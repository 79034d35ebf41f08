"""Shapes of responses, with the names of the wire. Responses may have more fields: these are the stable ones."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict

Horizon = Literal["1d", "2d", "3d", "7d"]
Signal = Literal["BUY", "SELL", "HOLD"]
PublicSignalName = Literal["BUY", "SELL", "HOLD", "GATED", "VOID"]
Direction = Literal["UP", "DOWN"]


MoveSize = Literal["CALM", "USUAL", "WILD"]


class Interval(TypedDict):
    """A 95 % interval of a share, 0 to 1."""

    low: float
    high: float


class PublicSignal(TypedDict):
    """The public signal: ``GATED``, with direction and confidence None, until its outcome is known.

    The direction of these forecasts has no demonstrated skill beyond luck: ``verdict`` of the scorecard's ``summary``
    has today's figures.
    """

    moveSize: Optional[MoveSize]
    pBig: Optional[float]
    signal: PublicSignalName
    direction: Optional[Direction]
    confidence: Optional[float]
    btcPrice: float
    regime: str
    modelVersion: str
    timestamp: str
    horizon: Horizon
    predictionId: str
    status: str
    windowOpensAt: str
    resolvesAt: str
    attestationUid: Optional[str]
    replayed: bool
    source: str


class Skill(TypedDict):
    """Evidence behind a confidence, of the whole record of the horizon. ``effectiveN`` allows for overlapping windows."""

    verdict: str
    scored: int
    effectiveN: float
    independent: int
    accuracy: Optional[float]
    interval95: Optional[Interval]
    alwaysUpAccuracy: Optional[float]


class OracleSignal(TypedDict):
    """The newest forecast, as token holders and payers receive it.

    The direction has no demonstrated skill; ``skill.verdict`` says how far the record is from luck.
    """

    moveSize: Optional[MoveSize]
    pBig: Optional[float]
    signal: Signal
    direction: Direction
    confidence: float
    pUp: float
    horizon: Horizon
    date: str
    predictionId: str
    windowOpensAt: str
    resolvesAt: str
    btcPrice: float
    regime: str
    modelVersion: str
    timestamp: str
    status: str
    sequence: int
    skill: Skill
    stale: bool
    commitment: str
    salt: str
    attestationUid: Optional[str]
    verifyUrl: Optional[str]
    source: str


class PriceRange(TypedDict):
    """The price is expected between ``low`` and ``high`` US dollars with probability ``share``."""

    share: float
    low: float
    high: float
    halfWidth: float


class MoveLimits(TypedDict):
    """What ``moveSize`` and ``pBig`` follow from, as log returns. Half of ``width90`` is the move that one end in ten is beyond."""

    modelVersion: str
    bigMove: float
    width80: float
    width90: float
    calmUpTo: float
    wildFrom: float


class ExpectedRange(TypedDict):
    """Central ranges of the price at the end of the horizon, and the size of the move. They say nothing of the direction.

    ``pBig`` is the probability of a move beyond ``moveLimits["bigMove"]``, up or down; all three are None without a width.
    """

    date: str
    horizon: Horizon
    modelVersion: str
    btcPrice: float
    ranges: List[PriceRange]
    moveSize: Optional[MoveSize]
    pBig: Optional[float]
    moveLimits: Optional[MoveLimits]
    windowOpensAt: str
    resolvesAt: str
    timestamp: str
    replayed: bool
    source: str


class Forecast(TypedDict):
    """A forecast of the record; ``GATED`` with None until its outcome is known. ``returnBps`` is in basis points."""

    date: str
    predictionId: str
    horizon: Horizon
    sequence: int
    status: str
    signal: PublicSignalName
    direction: Optional[Direction]
    confidence: Optional[float]
    pUp: Optional[float]
    resolved: bool
    returnBps: Optional[int]
    windowOpensAt: str
    resolvesAt: str
    attestationUid: Optional[str]
    resolutionUid: Optional[str]


class RecordSummary(TypedDict):
    """Counts and shares. ``accuracyInterval95`` is the error bar of ``accuracy``, None before the first outcome."""

    totalPredictions: int
    scored: int
    wins: int
    losses: int
    holds: int
    voids: int
    missed: int
    pending: int
    accuracy: float
    accuracyInterval95: Optional[Interval]
    alwaysUpAccuracy: float
    verdict: str


class Scorecard(TypedDict):
    """All forecasts of a horizon, newest first, 20 a page; figures count all pages. ``nextCursor`` is None on the last."""

    horizon: Horizon
    source: str
    summary: RecordSummary
    statistics: Dict[str, Any]
    predictions: List[Forecast]
    count: int
    nextCursor: Optional[int]


class TrackRecord(TypedDict):
    """The record by filters, with statistics of exactly the filtered forecasts."""

    asOf: str
    filters: Dict[str, Any]
    statistics: Dict[str, Any]
    wholeRecord: Dict[str, Any]
    inference: str
    entries: List[Forecast]
    page: int
    pageSize: int
    pages: int
    total: int
    source: str


class Check(TypedDict):
    """One comparison of chain and record."""

    check: str
    field: str
    expected: Any
    actual: Any
    ok: bool


class Verification(TypedDict):
    """An attestation, compared with the record by the service. ``svc verify`` checks it without trusting the service."""

    uid: str
    type: str
    predictionId: str
    horizon: Horizon
    onChain: bool
    verified: bool
    checks: List[Check]
    attester: str
    blockTime: str


class DatasetFile(TypedDict):
    """A file of the dataset; ``sha256`` is the digest of its bytes, hexadecimal."""

    format: Literal["csv", "parquet"]
    url: str
    bytes: int
    sha256: str


class DatasetTable(TypedDict):
    """A table of the dataset."""

    name: str
    title: str
    rows: int
    columns: List[Dict[str, Any]]
    files: List[DatasetFile]


class Dataset(TypedDict):
    """The resolved record as files, with its licence."""

    title: str
    version: str
    source: str
    licence: Dict[str, str]
    tables: List[DatasetTable]


class Event(TypedDict):
    """An event of the WebSocket or of a webhook (docs/EVENTS.md). ``id`` increases; a webhook's ``ping`` has none."""

    id: int
    type: str
    timestamp: str
    data: Dict[str, Any]
