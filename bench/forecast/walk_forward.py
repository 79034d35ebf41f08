"""The walk-forward of the model in numpy, as a reference for speed and figures.

Usage: python3 walk_forward.py <folder>, a folder as `frame-files.ts` writes it. Each line on standard input runs everything once, from
the inputs to the tables, and prints one line of JSON: {"seconds": ..., "horizons": {"7": {"n": ..., "accuracy": ..., ...}}}.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

NAN = np.nan
HORIZONS = (1, 2, 3, 7)
INPUTS = ("trend", "momentum", "flow", "value", "vol")
BLOCK_DAYS, EMBARGO_DAYS, FIRST_BLOCK = 180, 7, -6
LEAST_TRAINING, RESIDUAL_DAYS, COMPLETE_ROW = 730, 1461, 209
BLOCK_ORIGIN = (np.datetime64("2017-04-03") - np.datetime64("1970-01-01")).astype(int)
TRAINING_START = (np.datetime64("2012-01-01") - np.datetime64("1970-01-01")).astype(int)
LEVELS = np.arange(1, 200) / 200
TAILS = ((0.05, 9), (0.95, 189))
BINS, RESAMPLES, BOOTSTRAP_DAYS = 20, 2_000, 30
REGIMES = ("CRISIS", "EUPHORIA", "CHOP", "BEAR_RECOVERY", "BEAR_TREND", "BULL_TREND", "DEFAULT")
THETA = np.array([0.06, 0.05, 0.06, 0.04, 0.04, 0.03, 0.05])
DAYS_TO_ENTER = (1, 2, 3, 3, 3, 3, 3)
CRISIS_DAYS = 5


def read_frame(folder):
    manifest = json.loads((folder / "frame.json").read_text())
    columns = {name: np.fromfile(folder / f"{name}.f64") for name in manifest["columns"]}
    return {"first_day": manifest["firstDay"], **columns}


# --- features -------------------------------------------------------------------------------------------------------------------------


def squash(z):
    return np.tanh(z / 1.5)


def mean_of_available(*parts):
    stacked = np.array(parts)
    known = ~np.isnan(stacked)
    count = known.sum(axis=0)
    total = np.where(known, stacked, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), NAN)


def score(*parts):
    return np.nan_to_num(mean_of_available(*parts), nan=0.0)


def lagged(values, days):
    return np.concatenate([np.full(days, NAN), values[:-days]])


def windowed(values, window):
    """Sum over the window that ends at each row, shorter at the front."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    return sums[ends] - sums[np.maximum(0, ends - window)]


def rolling_mean(values, window, least):
    known = ~np.isnan(values)
    count = windowed(known.astype(float), window)
    total = windowed(np.where(known, values, 0.0), window)
    return np.where(count >= least, total / np.maximum(count, 1), NAN)


def rolling_z(values, window, least):
    known = ~np.isnan(values)
    centred = np.where(known, values - np.nanmean(values) if known.any() else 0.0, 0.0)
    count = windowed(known.astype(float), window)
    mean = windowed(centred, window) / np.maximum(count, 1)
    variance = (windowed(centred**2, window) - count * mean**2) / np.maximum(count - 1, 1)
    usable = known & (count >= least) & (variance > 0)
    return np.where(usable, (centred - mean) / np.sqrt(np.where(usable, variance, 1.0)), NAN)


def simple_average(values, window):
    means = np.full(len(values), NAN)
    means[window - 1 :] = sliding_window_view(values, window).mean(axis=1)
    return means


def ewma_variance(squares, decay):
    variance = np.full(len(squares), NAN)
    value = squares[1:31].mean()
    variance[30] = value
    for row in range(31, len(squares)):
        value = decay * value + (1 - decay) * squares[row]
        variance[row] = value
    return variance


def rolling_median(values, window, least):
    medians = np.full(len(values), NAN)
    first = int(np.argmax(~np.isnan(values)))
    for row in range(first + least - 1, min(first + window - 1, len(values))):
        medians[row] = np.median(values[first : row + 1])
    if len(values) >= first + window:
        medians[first + window - 1 :] = np.median(sliding_window_view(values[first:], window), axis=1)
    return medians


def as_of(days, values, frame_days):
    """The newest observation of the day before or earlier, masked after a week."""
    last = np.searchsorted(days, frame_days - 1, side="right") - 1
    fresh = (last >= 0) & (frame_days - days[np.maximum(last, 0)] <= 7) if len(days) else np.zeros(len(frame_days), bool)
    return np.where(fresh, values[np.maximum(last, 0)], NAN) if len(days) else np.full(len(frame_days), NAN)


def flow_pressure(flows):
    count = np.minimum(np.arange(1, len(flows) + 1), 60)
    with np.errstate(divide="ignore", invalid="ignore"):
        pressure = windowed(flows, 5) / (np.sqrt(windowed(flows**2, 60) / count) * np.sqrt(5))
    pressure[: min(19, len(flows))] = NAN
    return pressure


def market_momentum(prices):
    logs = np.log(prices)
    squares = np.concatenate([[0.0], np.diff(logs) ** 2]) if len(logs) else logs
    momentum = np.full(len(logs), NAN)
    momentum[80:] = (logs[80:] - logs[60:-20]) / (np.sqrt(windowed(squares, 60)[80:] / 60) * np.sqrt(20))
    return momentum


def features(frame):
    close = frame["close"]
    days = frame["first_day"] + np.arange(len(close))
    logs = np.log(close)
    squares = np.concatenate([[0.0], np.diff(logs) ** 2])
    table = {name: ewma_variance(squares, decay) for name, decay in (("v94", 0.94), ("v97", 0.97), ("v99", 0.99))}
    daily = np.sqrt(table["v99"])
    volatility = np.sqrt(table["v97"])
    table["vratio"] = volatility / rolling_median(volatility, 365, 180)
    table["vol"] = np.nan_to_num(np.tanh(np.log(table["vratio"]) / 0.5), nan=0.0)

    fast, slow = simple_average(close, 50), simple_average(close, 200)
    table["gap50"], table["gap200"], table["cross"] = np.log(close / fast), np.log(close / slow), np.log(fast / slow)
    table["trend"] = score(
        squash(table["gap50"] / (daily * np.sqrt(50 / 3))),
        squash(table["gap200"] / (daily * np.sqrt(200 / 3))),
        squash(table["cross"] / (daily * np.sqrt(37.5))),
    )
    table["momentum"] = score(*(squash((logs - lagged(logs, k)) / (daily * np.sqrt(k))) for k in (7, 28, 91)))
    table["ret7"], table["ret30"] = logs - lagged(logs, 7), logs - lagged(logs, 30)

    etf = as_of(frame["etfFlow.days"], flow_pressure(frame["etfFlow"]), days)
    stocks = as_of(frame["sp500.days"], market_momentum(frame["sp500"]), days)
    dollar = as_of(frame["dxy.days"], market_momentum(frame["dxy"]), days)
    taker = rolling_z(rolling_mean(frame["takerBuyFraction"], 7, 5), 180, 60)
    funding = rolling_z(rolling_mean(frame["fundingRate"], 7, 5), 180, 60)
    macro = mean_of_available(squash(stocks), -squash(dollar), np.tanh((frame["pmi"] - 50) / 5))
    table["flow"] = score(squash(etf), squash(taker), -squash(funding), macro)

    table["fg7"] = rolling_mean(frame["fearGreed"], 7, 4)
    realized = rolling_z(np.log(close / frame["realizedPrice"]), 1460, 365)
    gold = rolling_z(np.log(close / frame["gold"]), 365, 180)
    table["value"] = score(-squash(realized), -(table["fg7"] - 50) / 50, -squash(gold))
    return table


def regimes(table):
    g, g5, c, r7, r30, ratio, fg7 = (table[name] for name in ("gap200", "gap50", "cross", "ret7", "ret30", "vratio", "fg7"))
    unknown = np.isnan(g) | np.isnan(ratio)
    rules = [
        unknown,
        (r7 <= -0.20) | (r30 <= -0.35),
        ((g >= 0.25) & (fg7 >= 75)) | ((g >= 0.45) & (r30 >= 0.20)),
        (abs(g) <= 0.10) & (abs(r30) <= 0.10) & (ratio <= 1.25),
        ((g < 0) | (c < 0)) & (g5 > 0) & (r30 >= 0.05),
        (g <= -0.03) & (g5 <= 0),
        (g >= 0.03) & (c > 0) & (r30 >= -0.05),
    ]
    raw = np.select(rules, [6, 0, 1, 2, 3, 4, 5], default=6)
    labels = np.empty(len(raw), int)
    current, since, candidate, count = 6, 0, 6, 0
    for row, label in enumerate(raw.tolist()):
        count = count + 1 if label == candidate else 1
        candidate = label
        held = current == 0 and row - since < CRISIS_DAYS
        if label != current and count >= DAYS_TO_ENTER[label] and not held:
            current, since = label, row
        labels[row] = current
    return labels


# --- model ----------------------------------------------------------------------------------------------------------------------------


def logit(p):
    return np.log(p / (1 - p))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def irls(design, labels, weight, precision, prior, offset=0.0):
    beta = np.zeros(design.shape[1])
    for _ in range(100):
        p = sigmoid(offset + design @ beta)
        gradient = design.T @ (weight * (labels - p)) - precision * (beta - prior)
        hessian = design.T @ (design * (weight * p * (1 - p))[:, None]) + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if np.all(abs(step) < 1e-10):
            break
    return beta


def cdf(grid, z):
    position = np.searchsorted(grid, z, side="right") - 1
    below = np.clip(position, 0, len(grid) - 2)
    inside = (below + 1 + (z - grid[below]) / (grid[below + 1] - grid[below])) / 200
    lower, upper = grid[9] - grid[:9].mean(), grid[-9:].mean() - grid[-10]
    tails = np.where(z < grid[0], np.exp(np.minimum(0, z - grid[0]) / lower) / 200, 1 - np.exp(-np.maximum(0, z - grid[-1]) / upper) / 200)
    return np.where((z < grid[0]) | (z > grid[-1]), tails, inside)


def crps(quantiles, realised):
    error = realised[:, None] - quantiles
    return 2 * np.where(error >= 0, LEVELS * error, (LEVELS - 1) * error).mean(axis=1)


def pinball(error, level):
    return np.where(error >= 0, level * error, (level - 1) * error)


def walk_forward(frame, table, labels_of_regimes, horizon):
    """Every complete fold's days: what was said, and what came of it."""
    close, first_day = frame["close"], frame["first_day"]
    rows = len(close)
    realised = np.full(rows, NAN)
    realised[:-horizon] = np.log(close[horizon:] / close[:-horizon])
    label = np.zeros(rows)
    label[:-horizon] = close[horizon:] > close[:-horizon]
    scale = np.sqrt(horizon * (0.5 * table["v94"] + 0.5 * table["v99"]))
    residual = realised / scale
    scores = np.column_stack([table[name] for name in INPUTS])
    design = np.column_stack([np.ones(rows), scores])
    first = max(TRAINING_START - first_day, COMPLETE_ROW)
    last_block = (first_day + rows - 1 - BLOCK_ORIGIN) // BLOCK_DAYS
    offset, deviation = np.zeros(rows), np.zeros(rows)
    said_from, folds = None, []
    for block in range(FIRST_BLOCK, last_block + 1):
        start = BLOCK_ORIGIN + block * BLOCK_DAYS - first_day
        end = start - horizon - EMBARGO_DAYS
        if end - first < LEAST_TRAINING:
            continue
        weight, train = 1 / horizon, slice(first, end)
        beta = irls(design[train], label[train], weight, np.array([0.0] + [16.0] * 5), np.zeros(6))
        base = (weight * label[train].sum() + 25) / (weight * (end - first) + 50)
        a, b = 0.0, 0.5
        if said_from is not None and end > said_from:
            said = slice(said_from, end)
            pair = np.column_stack([np.ones(end - said_from), deviation[said]])
            a, b = irls(pair, label[said], weight, np.array([100.0, 16.0]), np.array([0.0, 0.5]), offset[said])
            b = min(1.0, max(0.0, b))
        grid = np.quantile(residual[max(first, end - RESIDUAL_DAYS) : end], LEVELS)
        climatology = np.quantile(realised[train], LEVELS)
        recent = np.quantile(realised[max(first, end - RESIDUAL_DAYS) : end], LEVELS)
        block_rows = slice(start, min(start + BLOCK_DAYS, rows))
        offset[block_rows] = logit(base)
        deviation[block_rows] = (scores[block_rows] - scores[train].mean(axis=0)) @ beta[1:]
        p = sigmoid(logit(base) + a + b * deviation[block_rows])
        said_from = start if said_from is None else said_from
        if block < 0 or start + BLOCK_DAYS > rows - horizon:
            continue
        shift = np.interp(1 - p, LEVELS, grid)
        quantiles = scale[block_rows][:, None] * (grid[None, :] - shift[:, None])
        outcome = realised[block_rows]
        folds.append(
            {
                "row": np.arange(start, start + BLOCK_DAYS),
                "fold": np.full(BLOCK_DAYS, block + 1),
                "regime": labels_of_regimes[block_rows],
                "p": p,
                "base": np.full(BLOCK_DAYS, base),
                "rose": label[block_rows],
                "crps": crps(quantiles, outcome),
                "pit": cdf(grid, outcome / scale[block_rows] + shift),
                "climatology_crps": crps(np.broadcast_to(climatology, (BLOCK_DAYS, 199)), outcome),
                "recent_crps": crps(np.broadcast_to(recent, (BLOCK_DAYS, 199)), outcome),
                **{f"pinball{level}": pinball(outcome - quantiles[:, index], level) for level, index in TAILS},
                **{f"climatology_pinball{level}": pinball(outcome - climatology[index], level) for level, index in TAILS},
            }
        )
    return {name: np.concatenate([fold[name] for fold in folds]) for name in folds[0]}


# --- tables ---------------------------------------------------------------------------------------------------------------------------


def wilson(hits, n, z=1.959963984540054):
    share, weight = hits / n, 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / weight
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / weight
    return centre - half, centre + half


def effective_count(days, horizon):
    total = float(len(days))
    for lag in range(1, horizon):
        pairs = np.isin(days + lag, days).sum()
        total += pairs * 2 * (2 / np.pi) * np.arcsin(1 - lag / horizon)
    return len(days) ** 2 / total


def bootstrap(columns, statistic, random):
    """95 % interval of a statistic of sums by the circular block bootstrap."""
    days = len(columns[0])
    count = -(-days // BOOTSTRAP_DAYS)
    starts = random.integers(0, days, (RESAMPLES, count))
    length = np.minimum(BOOTSTRAP_DAYS, days - BOOTSTRAP_DAYS * np.arange(count))
    sums = []
    for column in columns:
        running = np.concatenate([[0.0], np.cumsum(np.concatenate([column, column[:BOOTSTRAP_DAYS]]))])
        sums.append((running[starts + length] - running[starts]).sum(axis=1))
    return np.quantile(statistic(*sums), [0.025, 0.975])


def murphy(p, rose):
    bins = np.minimum(BINS - 1, (p * BINS).astype(int))
    n, said, happened = (np.bincount(bins, weights, BINS) for weights in (None, p, rose))
    used = n > 0
    share, gap = rose.mean(), (said[used] - happened[used]) / n[used]
    reliability = (n[used] * gap**2).sum() / len(p)
    resolution = (n[used] * (happened[used] / n[used] - share) ** 2).sum() / len(p)
    return reliability, resolution, share * (1 - share)


def reliability_table(days, p, rose, horizon):
    bins = np.minimum(BINS - 1, (p * BINS).astype(int))
    rows = []
    for index in np.unique(bins):
        inside = bins == index
        worth, observed = effective_count(days[inside], horizon), rose[inside].mean()
        rows.append((index / BINS, inside.sum(), p[inside].mean(), observed, *wilson(observed * worth, worth)))
    return rows


def shares(days, hit, horizon):
    worth = effective_count(days, horizon)
    offsets = [hit[(days - days[0]) % horizon == k].mean() for k in range(horizon)]
    return hit.mean(), worth, wilson(hit.mean() * worth, worth), offsets


def spread(days, rows, values):
    column = np.zeros(days)
    column[rows] = values
    return column


def tables(said, horizon, random):
    p, rose, base, pit = said["p"], said["rose"], said["base"], said["pit"]
    days = said["row"]
    up = p >= 0.5
    hit = (up == (rose > 0)).astype(float)
    theta = THETA[said["regime"]]
    called = (p >= 0.5 + theta) | (p <= 0.5 - theta)
    brier, reference, always = (p - rose) ** 2, (base - rose) ** 2, (1 - rose) ** 2
    log_score = -np.log(np.where(rose > 0, p, 1 - p))
    per_fold = [
        tuple(values[said["fold"] == fold].mean() for values in (rose, hit, called, brier, reference, log_score, said["crps"], said["climatology_crps"], said["recent_crps"], pit))
        for fold in np.unique(said["fold"])
    ]
    per_regime = [
        tuple(values[said["regime"] == regime].mean() for values in (rose, hit, called, brier, reference, said["crps"]))
        for regime in np.unique(said["regime"])
    ]
    ones, span, rows = np.ones(len(p)), days[-1] - days[0] + 1, days - days[0]
    ratio, skill = (lambda some, every: some / every), (lambda ours, theirs: 1 - ours / theirs)
    intervals = [
        bootstrap([hit, ones], ratio, random),
        bootstrap([hit - rose, ones], ratio, random),
        bootstrap([spread(span, rows[called], hit[called]), spread(span, rows[called], 1.0)], ratio, random),
        bootstrap([spread(span, rows[called], (hit - rose)[called]), spread(span, rows[called], 1.0)], ratio, random),
        bootstrap([brier, reference], skill, random),
        bootstrap([brier, always], skill, random),
        bootstrap([said["crps"], said["climatology_crps"]], skill, random),
        bootstrap([said["crps"], said["recent_crps"]], skill, random),
        bootstrap([(abs(pit - 0.5) <= 0.4).astype(float), ones], ratio, random),
        *(bootstrap([said[f"pinball{level}"], said[f"climatology_pinball{level}"]], skill, random) for level, _ in TAILS),
    ]
    runs = windowed(np.concatenate([hit, hit[: 3 * horizon]]), 3 * horizon)[3 * horizon :]
    inflation = ((runs - 3 * horizon * hit.mean()) ** 2).mean() / (3 * horizon) / (hit.mean() * (1 - hit.mean()))
    worth = effective_count(days, horizon)
    central = [(nominal, (abs(pit - 0.5) <= nominal / 2).mean()) for nominal in (0.5, 0.8, 0.9)]
    below = [(level, (pit <= level).mean()) for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)]
    coverage = [(nominal, share, *wilson(share * worth, worth)) for nominal, share in central + below]
    everything = (
        per_fold,
        per_regime,
        intervals,
        365.25 / inflation,
        coverage,
        murphy(p, rose),
        reliability_table(days, p, rose, horizon),
        shares(days, hit, horizon),
        shares(days[called], hit[called], horizon),
    )
    assert all(part is not None for part in everything)
    return {
        "n": len(p),
        "accuracy": hit.mean(),
        "brier": brier.mean(),
        "climatologyBrier": reference.mean(),
        "crps": said["crps"].mean(),
        "climatologyCrps": said["climatology_crps"].mean(),
        "recentCrps": said["recent_crps"].mean(),
    }


def run(frame):
    # A seed of its own: the draws differ from ours, and with them the intervals in their last digits.
    random = np.random.default_rng(20170403)
    table = features(frame)
    labels = regimes(table)
    return {str(horizon): tables(walk_forward(frame, table, labels, horizon), horizon, random) for horizon in HORIZONS}


def main():
    frame = read_frame(Path(sys.argv[1]))
    print(json.dumps({"numpy": np.__version__, "python": sys.version.split()[0]}), flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        with np.errstate(invalid="ignore"):
            horizons = run(frame)
        print(json.dumps({"seconds": time.perf_counter() - started, "horizons": horizons}), flush=True)


main()
