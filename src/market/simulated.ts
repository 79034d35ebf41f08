import { OracleError } from '../errors.ts';
import { DAY_MS, type Day, formatDay, MINUTE_MS, parseDay, toDay, toInstantMs } from '../forecast/day.ts';
import { toRecord } from '../forecast/inputs.ts';
import { roundTo } from '../platform/validation.ts';
import { type Feed, getSignalTimeMs, type PriceRange, type SpotPrice, type VenueClose } from './feed.ts';
import { computeChange24hPct } from './quorum.ts';
import {
  createGrowableColumn,
  type GrowableColumn,
  getNextPublicationMs,
  getPublicationMs,
  isFirstUsExchangeDayOfMonth,
  isTradingDay,
  isUsExchangeDay,
  type Observations,
  SERIES_IDS,
  type SeriesId,
  sliceKnownAt,
} from './series.ts';

export type Randomness = ReturnType<typeof createRandomness>;

/**
 * Random numbers as pure functions of day and draw, so that no value depends on how far or in which order the simulation runs; an
 * independent stream for each seed and name.
 */
export function createRandomness(seed: number, stream: string) {
  const key = hashText(seed | 0, stream);
  // Eight slots per draw, so that no two numbers share one.
  const raw = (day: number, draw: number, slot: number) =>
    (mix(mix(key ^ day) + Math.imul(draw * 8 + slot + 1, 0x9e3779b9)) + 0.5) / 2 ** 32;
  const normalFrom = (day: number, draw: number, slot: number) =>
    Math.sqrt(-2 * Math.log(raw(day, draw, slot))) * Math.cos(2 * Math.PI * raw(day, draw, slot + 1));
  return {
    /** In (0, 1). */
    uniform: (day: number, draw = 0) => raw(day, draw, 0),
    /** Mean 0, variance 1. */
    normal: (day: number, draw = 0) => normalFrom(day, draw, 1),
    /** Student t with four degrees of freedom, scaled to variance 1 and truncated at six standard deviations. */
    fatTailed(day: number, draw = 0): number {
      const chiSquare4 = -2 * Math.log(raw(day, draw, 5) * raw(day, draw, 6));
      const studentT = normalFrom(day, draw, 3) / Math.sqrt(chiSquare4 / 4);
      return Math.max(-6, Math.min(6, studentT / Math.SQRT2));
    },
  };
}

/** The finalizer of MurmurHash3, unsigned. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function hashText(seed: number, text: string): number {
  let h = mix(seed ^ 0x5f356495);
  for (let i = 0; i < text.length; i++) h = mix(h ^ text.charCodeAt(i));
  return h;
}

const FIRST_PRICE_DAY = parseDay('2010-07-18');
const BEFORE_START = `the simulation begins on ${formatDay(FIRST_PRICE_DAY)}`;

type PricePath = ReturnType<typeof createPricePath>;

/** Daily volatility of each regime, with its transition probabilities to the next and the previous one. */
const VOLATILITY_REGIMES = [
  { name: 'calm', volatility: 0.015, up: 1 / 45, down: 0 },
  { name: 'normal', volatility: 0.027, up: 1 / 90, down: 1 / 70 },
  { name: 'storm', volatility: 0.05, up: 0, down: 1 / 20 },
] as const;

const GARCH = { reaction: 0.1, memory: 0.82, highestVolatility: 0.08 };
const JUMP = { chance: 0.01, smallest: 0.04, spread: 0.08 };
/** Beyond `slack` (log price) from the growth curve, the price reverts by the fraction `pull` per day. */
const MEAN_REVERSION = { slack: 0.4, pull: 1.5 / 365 };
const GENESIS = parseDay('2009-01-03');
const ANCHOR = { day: parseDay('2026-01-01'), logPrice: Math.log(87_000) };
/** Power law of the network's age up to the anchor; growth then decays over eight years. */
const GROWTH = { exponent: 5.62, fadeDays: 8 * 365 };

/**
 * Simulated daily closes at 00:00 UTC after each day, computed lazily up to the requested day: GARCH volatility with regimes and jumps. The
 * direction is unpredictable: shocks are symmetric, and the drift is the growth curve only.
 */
function createPricePath(seed: number) {
  const random = createRandomness(seed, 'btc');
  const logPrices = createGrowableColumn(Float64Array, 8192);
  const volatilities = createGrowableColumn(Float64Array, 8192);
  logPrices.push(computeGrowthCurve(FIRST_PRICE_DAY - 1));
  volatilities.push(VOLATILITY_REGIMES[1].volatility);
  let regime = 1;
  let variance = VOLATILITY_REGIMES[1].volatility ** 2;
  let lastShock = 0;

  function step(day: Day, previous: number): void {
    regime = drawNextRegime(regime, random.uniform(day));
    // Higher variance in the market's first years.
    const youth = 1 + 1.2 * Math.exp(-(day - FIRST_PRICE_DAY) / (4 * 365));
    const base = VOLATILITY_REGIMES[regime].volatility ** 2 * youth;
    const next = base * (1 - GARCH.reaction - GARCH.memory) + GARCH.reaction * lastShock ** 2 + GARCH.memory * variance;
    variance = Math.min(next, GARCH.highestVolatility ** 2);
    lastShock = Math.sqrt(variance) * random.fatTailed(day);
    logPrices.push(previous + computeDrift(day, previous) + lastShock + drawJump(day, random));
    volatilities.push(Math.sqrt(variance));
  }

  /** Computes the path up to `day`. Index 0 is the day before the first. */
  function indexOf(day: Day): number {
    const index = day - FIRST_PRICE_DAY + 1;
    for (let next = logPrices.length; next <= index; next++) step(FIRST_PRICE_DAY - 1 + next, logPrices.at(next - 1));
    return Math.max(0, index);
  }

  const logPrice = (day: Day) => logPrices.at(indexOf(day));
  return {
    /** USD; the close before `FIRST_PRICE_DAY` is the opening price. */
    close: (day: Day) => roundPrice(Math.exp(logPrice(day))),
    /** Log return from the close of `day - days` to that of `day`; truncated at the start of the path. */
    logReturn: (day: Day, days: number) => logPrice(day) - logPrice(day - days),
    /** Standard deviation of the day's log return. */
    dailyVolatility: (day: Day) => volatilities.at(indexOf(day)),
  };
}

/** Cents, or millionths of a dollar below 100 USD. */
function roundPrice(priceUsd: number): number {
  return roundTo(priceUsd, priceUsd < 100 ? 6 : 2);
}

function drawNextRegime(regime: number, chance: number): number {
  const { up, down } = VOLATILITY_REGIMES[regime];
  if (chance < up) return regime + 1;
  return chance < up + down ? regime - 1 : regime;
}

function computeGrowthCurve(day: Day): number {
  const late = day - ANCHOR.day;
  if (late <= 0) return ANCHOR.logPrice + GROWTH.exponent * Math.log((day - GENESIS) / (ANCHOR.day - GENESIS));
  const slope = GROWTH.exponent / (ANCHOR.day - GENESIS);
  return ANCHOR.logPrice + slope * GROWTH.fadeDays * (1 - Math.exp(-late / GROWTH.fadeDays));
}

function computeDrift(day: Day, logPrice: number): number {
  const distance = logPrice - computeGrowthCurve(day - 1);
  const excess = Math.sign(distance) * Math.max(0, Math.abs(distance) - MEAN_REVERSION.slack);
  return computeGrowthCurve(day) - computeGrowthCurve(day - 1) - MEAN_REVERSION.pull * excess;
}

function drawJump(day: Day, random: Randomness): number {
  if (random.uniform(day, 1) >= JUMP.chance) return 0;
  const size = JUMP.smallest + JUMP.spread * random.uniform(day, 2);
  return random.uniform(day, 3) < 0.5 ? size : -size;
}

/** Generator of a series: called once per day in order, it returns the day's value or NaN. It must not read the price path of later days. */
type DayGenerator = (day: Day) => number;

interface SimulatedSeries {
  /** First date with a value (YYYY-MM-DD), close to that of the real series. */
  from: string;
  start(path: PricePath, seed: number): DayGenerator;
}

/** A series drawn from one random stream. */
function drawSeries(
  from: string,
  stream: string,
  start: (random: Randomness, path: PricePath, seed: number) => DayGenerator,
): SimulatedSeries {
  return { from, start: (path, seed) => start(createRandomness(seed, stream), path, seed) };
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

const FIRST_DATE = '2009-06-01';

interface DriftingPriceOptions {
  start: number;
  /** Log growth per year. */
  growth: number;
  /** Standard deviation of a trading day's log return. */
  volatility: number;
  /** Mean reversion to the trend per trading day, as a fraction. */
  reversion: number;
  /** Correlation with Bitcoin's return of the same day. */
  correlation: number;
  decimals: number;
  isOpen: (day: Day) => boolean;
}

/** A price around a growing trend, correlated with Bitcoin's return of the same day and never ahead of it. */
function createDriftingPrice(stream: string, rule: DriftingPriceOptions): SimulatedSeries {
  const independentShare = Math.sqrt(1 - rule.correlation ** 2);
  return drawSeries(FIRST_DATE, stream, (random, path) => {
    let distance = 0;
    return (day) => {
      if (!rule.isOpen(day)) return Number.NaN;
      const shock = rule.correlation * computeBitcoinShock(path, day) + independentShare * random.fatTailed(day);
      distance += rule.volatility * shock - rule.reversion * distance;
      const years = (day - parseDay(FIRST_DATE)) / 365.25;
      return roundTo(rule.start * Math.exp(rule.growth * years + distance), rule.decimals);
    };
  });
}

/** The day's Bitcoin return in standard deviations. */
function computeBitcoinShock(path: PricePath, day: Day): number {
  return clamp(path.logReturn(day, 1) / path.dailyVolatility(day), -4, 4);
}

/** A policy rate that moves by quarter points every six weeks or so, mostly in the direction of its last move. */
function createPolicyTarget(random: Randomness): (day: Day) => number {
  let target = 0.25;
  let direction = 1;
  return (day) => {
    if (day % 45 === 0 && random.uniform(day) < 0.35) {
      if (target <= 0.25) direction = 1;
      else if (target >= 5.5) direction = -1;
      else if (random.uniform(day, 1) < 0.15) direction = -direction;
      target += 0.25 * direction;
    }
    return target;
  };
}

const SP500 = { start: 940, growth: 0.122, volatility: 0.0105, reversion: 0.003, correlation: 0.3, decimals: 2 };
const DXY = { start: 92, growth: 0.003, volatility: 0.0043, reversion: 0.003, correlation: -0.15, decimals: 3 };
const GOLD = { start: 980, growth: 0.085, volatility: 0.0098, reversion: 0.002, correlation: 0.1, decimals: 1 };

/** Average cost basis: each day, this share of the coins moves at the day's price. */
const createRealizedPrice = (movedPerDay: number): SimulatedSeries => ({
  from: '2010-07-19',
  start(path) {
    let paid = path.close(FIRST_PRICE_DAY) * 0.6;
    return (day) => {
      paid += movedPerDay * (path.close(day) - paid);
      return roundTo(paid, 6);
    };
  },
});

const SIMULATED_VENUES = ['sim-north', 'sim-east', 'sim-south'] as const;

/** Standard deviation of a venue's close (fraction); capped at five times as much. */
const DEVIATION = 0.0008;

/** All series of the simulated feed. */
const SIMULATED_SERIES = {
  btcClose: { from: formatDay(FIRST_PRICE_DAY), start: (path) => path.close },
  btcHigh: { from: formatDay(FIRST_PRICE_DAY), start: (path, seed) => pickFromRanges(path, seed, 'highUsd') },
  btcLow: { from: formatDay(FIRST_PRICE_DAY), start: (path, seed) => pickFromRanges(path, seed, 'lowUsd') },
  /** Momentum over a month and a quarter minus volatility. The value of day d reads closes up to d-1. */
  fearGreed: drawSeries('2018-02-01', 'fearGreed', (random, path) => {
    let noise = 0;
    return (day) => {
      noise = 0.7 * noise + 4 * random.normal(day);
      if (random.uniform(day) < 0.0015) return Number.NaN;
      const month = Math.tanh(path.logReturn(day - 1, 30) / 0.16);
      const quarter = Math.tanh(path.logReturn(day - 1, 90) / 0.4);
      const turbulence = Math.tanh((path.dailyVolatility(day - 1) - 0.027) / 0.02);
      return clamp(Math.round(49 + 24 * month + 18 * quarter - 8 * turbulence + noise), 4, 97);
    };
  }),
  realizedPrice: createRealizedPrice(0.0045),
  /** Short-term holders turn their coins over within 155 days. */
  sthRealizedPrice: createRealizedPrice(0.015),
  takerBuyFraction: drawSeries('2017-08-17', 'takerBuyFraction', (random, path) => (day) => {
    return roundTo(clamp(0.492 + 0.25 * path.logReturn(day, 1) + 0.008 * random.normal(day), 0.3, 0.7), 4);
  }),
  fundingRate: drawSeries('2020-01-01', 'fundingRate', (random, path) => (day) => {
    return roundTo(0.0001 + 0.0012 * clamp(path.logReturn(day, 7), -0.4, 0.6) + 0.00006 * random.normal(day), 8);
  }),
  openInterest: drawSeries('2019-03-30', 'openInterest', (random, path) => {
    let coins = Math.log(150_000);
    return (day) => {
      coins += 0.0003 * (Math.log(300_000) - coins) + 0.01 * random.normal(day);
      return Math.round(Math.exp(coins) * path.close(day));
    };
  }),
  /** Leveraged longs bid the perpetual above the index, shorts below it. */
  perpBasis: drawSeries('2020-01-01', 'perpBasis', (random, path) => (day) => {
    return roundTo(0.0015 * clamp(path.logReturn(day, 7), -0.4, 0.6) - 0.0001 + 0.00015 * random.normal(day), 6);
  }),
  /** Implied volatility: annualized volatility of the day plus a premium. */
  dvol: drawSeries('2021-03-24', 'dvol', (random, path) => {
    let level = 60;
    return (day) => {
      const yearly = 100 * path.dailyVolatility(day) * Math.sqrt(365);
      level += 0.15 * (1.05 * yearly - level) + 0.8 * random.normal(day);
      return roundTo(Math.max(15, level), 2);
    };
  }),
  /** Follows the week's return, on US exchange days. */
  etfFlow: drawSeries('2024-01-11', 'etfFlow', (random, path) => (day) => {
    if (!isUsExchangeDay(day)) return Number.NaN;
    return roundTo(40 + 700 * Math.tanh(3 * path.logReturn(day, 5)) + 180 * random.fatTailed(day), 1);
  }),
  sp500: createDriftingPrice('sp500', { ...SP500, isOpen: isUsExchangeDay }),
  dxy: createDriftingPrice('dxy', { ...DXY, isOpen: isTradingDay }),
  gold: createDriftingPrice('gold', { ...GOLD, isOpen: isTradingDay }),
  vix: drawSeries(FIRST_DATE, 'vix', (random, path) => {
    let distance = 0;
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      distance += -0.04 * distance + 0.06 * random.fatTailed(day) - 0.015 * computeBitcoinShock(path, day);
      return roundTo(clamp(17.5 * Math.exp(distance), 9, 85), 2);
    };
  }),
  /** Expected policy over two years: mostly the rate of the day. */
  us2y: drawSeries(FIRST_DATE, 'us2y', (random, _path, seed) => {
    const target = createPolicyTarget(createRandomness(seed, 'fedFunds'));
    let premium = 0;
    return (day) => {
      const policy = target(day);
      if (!isUsExchangeDay(day)) return Number.NaN;
      premium += -0.01 * premium + 0.05 * random.normal(day);
      return roundTo(clamp(0.6 + 0.8 * policy + premium, 0.05, 8), 3);
    };
  }),
  us10y: drawSeries(FIRST_DATE, 'us10y', (random) => {
    let level = 3.2;
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      level = clamp(level + 0.001 * (3 - level) + 0.05 * random.normal(day), 0.4, 8);
      return roundTo(level, 3);
    };
  }),
  /** The effective rate, below the target's upper limit. */
  fedFunds: drawSeries(FIRST_DATE, 'fedFunds', (random) => {
    const target = createPolicyTarget(random);
    return (day) => roundTo(target(day) - 0.12, 2);
  }),
  policyRate: drawSeries(FIRST_DATE, 'fedFunds', createPolicyTarget),
  /** First prints, dated by their release. */
  pmi: drawSeries(FIRST_DATE, 'pmi', (random) => {
    let level = 52;
    return (day) => {
      if (!isFirstUsExchangeDayOfMonth(day)) return Number.NaN;
      level = clamp(level + 0.08 * (52 - level) + 1.4 * random.normal(day), 38, 65);
      return roundTo(level, 1);
    };
  }),
} as const satisfies Record<SeriesId, SimulatedSeries>;

/** Selected among small seeds: its price of 2026 is near the real one, and every recent year has most regimes. */
export const DEFAULT_SEED = 2;

/** Synthetic series from 2010-07-18 (macro from 2009-06) without an end; each value is a pure function of seed (int32) and date. */
export function openSimulatedFeed({ seed }: { seed: number } = { seed: DEFAULT_SEED }): Feed {
  const source = `simulated (seed ${seed})`;
  const path = createPricePath(seed);
  const priceAt = createIntradayPrice(path, seed);
  const ranges = getPriceRanges(path, seed);
  const venueCloses = createVenueCloses(path, seed);
  const series = toRecord(SERIES_IDS, (id) => createGeneratedSeries(id, path, seed));
  const fundFlows = createFundFlows(series.etfFlow, seed);

  return {
    kind: 'simulated',
    source,
    coverage: async () => ({ firstDay: FIRST_PRICE_DAY, lastDay: null }),
    observations: async (id, atMs) => series[id](atMs),
    spot: async (atMs) => buildSpotPrice(priceAt, atMs, source),
    rangeSoFar: async (atMs) => (atMs < toInstantMs(FIRST_PRICE_DAY) ? null : ranges.soFar(atMs)),
    async dailyCloses(day, atMs) {
      if (day < FIRST_PRICE_DAY) return [{ venue: source, priceUsd: null, reason: BEFORE_START }];
      return venueCloses(day, atMs);
    },
    fundFlows: async (atMs) => fundFlows(atMs),
    strikes: async () => [],
    nextChangeAt: async (what, atMs) => (what === 'spot' ? floorToMinute(atMs) + MINUTE_MS : getNextPublicationMs(what, atMs)),
    providerHealth: async () => [],
  };
}

function pickFromRanges(path: PricePath, seed: number, which: keyof PriceRange): (day: Day) => number {
  const { wholeDay } = getPriceRanges(path, seed);
  return (day) => wholeDay(day)[which];
}

function buildSpotPrice(priceAt: (atMs: number) => number, atMs: number, source: string): SpotPrice {
  if (atMs < toInstantMs(FIRST_PRICE_DAY)) {
    throw new OracleError('PRICE_UNAVAILABLE', `No price at ${new Date(atMs).toISOString()}: ${BEFORE_START}`);
  }
  const priceUsd = priceAt(atMs);
  const before = atMs - DAY_MS >= toInstantMs(FIRST_PRICE_DAY) ? priceAt(atMs - DAY_MS) : null;
  return { priceUsd, observedAtMs: floorToMinute(atMs), source, change24hPct: computeChange24hPct(before, priceUsd) };
}

function floorToMinute(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

/** Generates one simulated series lazily. The returned function slices it as known at an instant. */
function createGeneratedSeries(id: SeriesId, path: PricePath, seed: number): (atMs: number) => Observations {
  const { from, start } = SIMULATED_SERIES[id];
  const generate = start(path, seed);
  const days = createGrowableColumn(Int32Array);
  const values = createGrowableColumn(Float64Array);
  const availableAt = createGrowableColumn(Float64Array);
  let next: Day = parseDay(from);

  function appendDay(day: Day): void {
    const value = generate(day);
    if (Number.isNaN(value)) return;
    days.push(day);
    values.push(value);
    availableAt.push(getPublicationMs(id, day));
  }

  return (atMs) => {
    for (; next <= toDay(atMs); next++) appendDay(next);
    return sliceKnownAt({ source: 'simulated', days: days.view(), values: values.view(), availableAt: availableAt.view() }, atMs);
  };
}

/** Each day, one venue closes at the path's close, one below and one above it, so the median is the path's close. */
function createVenueCloses(path: PricePath, seed: number): (day: Day, atMs: number) => VenueClose[] {
  const random = createRandomness(seed, 'venues');
  return (day, atMs) => {
    if (atMs < toInstantMs(day + 1))
      return SIMULATED_VENUES.map((venue) => ({ venue, priceUsd: null, reason: 'the day is still running' }));
    const middle = Math.floor(random.uniform(day) * SIMULATED_VENUES.length);
    const offset = (place: number) => DEVIATION * Math.min(5, Math.abs(random.normal(day, place)));
    return SIMULATED_VENUES.map((venue, index) => {
      const place = (index - middle + SIMULATED_VENUES.length) % SIMULATED_VENUES.length;
      const factor = [1, 1 - offset(1), 1 + offset(2)][place];
      return { venue, priceUsd: roundPrice(path.close(day) * factor) };
    });
  };
}

/** Typical shares of the daily flow; the first fund receives the remainder. */
const SHARES = {
  IBIT: 0.48,
  FBTC: 0.2,
  BITB: 0.05,
  ARKB: 0.08,
  BTCO: 0.02,
  EZBC: 0.015,
  BRRR: 0.01,
  HODL: 0.025,
  BTCW: 0.01,
  GBTC: 0.06,
  BTC: 0.05,
} as const;

const [LEADER, ...OTHERS] = Object.keys(SHARES) as (keyof typeof SHARES)[];

/** Splits the simulated totals (USD millions) into flows of each fund, in steps of 0.1 that sum exactly to the totals. */
function createFundFlows(totals: (atMs: number) => Observations, seed: number) {
  const random = createRandomness(seed, 'fundFlows');
  const funds = new Map<string, GrowableColumn<Float64Array>>(
    Object.keys(SHARES).map((ticker) => [ticker, createGrowableColumn(Float64Array)]),
  );

  function split(day: number, totalMusd: number): void {
    let tenthsLeft = Math.round(totalMusd * 10);
    OTHERS.forEach((ticker, index) => {
      const share = SHARES[ticker] * (1 + 0.5 * random.normal(day, 2 * index));
      const tenths = Math.round(10 * (share * totalMusd + 150 * SHARES[ticker] * random.normal(day, 2 * index + 1)));
      funds.get(ticker)!.push(tenths / 10);
      tenthsLeft -= tenths;
    });
    funds.get(LEADER)!.push(tenthsLeft / 10);
  }

  return (atMs: number): Record<string, Observations> => {
    const total = totals(atMs);
    for (let next = funds.get(LEADER)!.length; next < total.days.length; next++) split(total.days[next], total.values[next]);
    return Object.fromEntries(
      [...funds].map(([ticker, flows]) => [ticker, { ...total, values: flows.view().subarray(0, total.days.length) }]),
    );
  };
}

/** Terms of the series: enough for moves within the hour. */
const TERMS = 48;

/** Price by the minute: a Brownian bridge between the closes at 00:00 UTC before and after, with the volatility of the day. */
function createIntradayPrice(path: PricePath, seed: number): (atMs: number) => number {
  const random = createRandomness(seed, 'intraday');
  return (atMs) => {
    const day = toDay(atMs);
    const from = path.close(day - 1);
    const minutes = Math.floor((atMs - toInstantMs(day)) / MINUTE_MS);
    if (minutes === 0) return from;
    const elapsed = (minutes * MINUTE_MS) / DAY_MS;
    const trend = elapsed * Math.log(path.close(day) / from);
    return roundPrice(from * Math.exp(trend + path.dailyVolatility(day) * evaluateBridge(random, day, elapsed)));
  };
}

/** Karhunen-Loeve series of a standard Brownian bridge at `elapsed` in [0, 1]. */
function evaluateBridge(random: Randomness, day: number, elapsed: number): number {
  let sum = 0;
  for (let k = 1; k <= TERMS; k++) sum += (random.normal(day, k) * Math.sin(k * Math.PI * elapsed)) / k;
  return (sum * Math.SQRT2) / Math.PI;
}

type PriceRanges = ReturnType<typeof createPriceRanges>;

const rangesByPath = new WeakMap<PricePath, PriceRanges>();

/** The ranges of a path, which its series of highs and lows share. */
function getPriceRanges(path: PricePath, seed: number): PriceRanges {
  const known = rangesByPath.get(path) ?? createPriceRanges(path, seed);
  rangesByPath.set(path, known);
  return known;
}

/**
 * High and low of a day, drawn from the law of the extremes of a Brownian bridge: from midnight to an instant at most 21:35 UTC, and from
 * 21:35 to midnight, so that the range so far says nothing of the close.
 */
function createPriceRanges(path: PricePath, seed: number) {
  const random = createRandomness(seed, 'ranges');
  const priceAt = createIntradayPrice(path, seed);

  /** Of a part of a day (fraction `duration`) in which the price moves from one value to another; `draw` is the first of its two draws. */
  function drawLeg(day: Day, { fromUsd, toUsd, duration, draw }: Record<'fromUsd' | 'toUsd' | 'duration' | 'draw', number>): PriceRange {
    const [from, move] = [Math.log(fromUsd), Math.log(toUsd / fromUsd)];
    const variance = path.dailyVolatility(day) ** 2 * duration;
    const reach = (offset: number) => Math.sqrt(move ** 2 - 2 * variance * Math.log(random.uniform(day, draw + offset)));
    const highUsd = Math.max(fromUsd, toUsd, roundPrice(Math.exp(from + (move + reach(0)) / 2)));
    return { highUsd, lowUsd: Math.min(fromUsd, toUsd, roundPrice(Math.exp(from + (move - reach(1)) / 2))) };
  }

  const drawn = new Map<Day, PriceRange>();

  function untilEvening(day: Day, untilMs: number, priceUsd: number): PriceRange {
    const duration = (untilMs - toInstantMs(day)) / DAY_MS;
    return drawLeg(day, { fromUsd: path.close(day - 1), toUsd: priceUsd, duration, draw: 0 });
  }

  function drawWholeDay(day: Day): PriceRange {
    const eveningMs = getSignalTimeMs(day);
    const eveningUsd = priceAt(eveningMs);
    const before = untilEvening(day, eveningMs, eveningUsd);
    const duration = (toInstantMs(day + 1) - eveningMs) / DAY_MS;
    const after = drawLeg(day, { fromUsd: eveningUsd, toUsd: path.close(day), duration, draw: 2 });
    return { highUsd: Math.max(before.highUsd, after.highUsd), lowUsd: Math.min(before.lowUsd, after.lowUsd) };
  }

  return {
    soFar(atMs: number): PriceRange {
      const day = toDay(atMs);
      const untilMs = Math.min(atMs, getSignalTimeMs(day));
      return untilEvening(day, untilMs, priceAt(untilMs));
    },
    /** Kept: highs and lows are read one after the other. */
    wholeDay(day: Day): PriceRange {
      const range = drawn.get(day) ?? drawWholeDay(day);
      drawn.set(day, range);
      return range;
    },
  };
}
