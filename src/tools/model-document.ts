import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ContaminationReport, EraFigures, PointInTimeFrame, Vintages } from '../forecast/backtest/contamination.ts';
import type { MoveReport } from '../forecast/backtest/move-walk.ts';
import { compareHorizons, EXPECTED_FOLDS, LAST_LOOK_FOLDS, RECENT_RETURN_DAYS } from '../forecast/backtest/out-of-sample.ts';
import type { OverfittingReport } from '../forecast/backtest/overfitting.ts';
import {
  compareSizings,
  MEAN_SIZE,
  SIZING_BLOCK_DAYS,
  SIZING_FIGURES,
  type SizingFigure,
  type SizingReport,
} from '../forecast/backtest/sizing.ts';
import type { StabilityReport } from '../forecast/backtest/stability.ts';
import { COVERED_SHARES, type VersionReport } from '../forecast/backtest/versions.ts';
import {
  type HorizonWalkForward,
  type PooledReport,
  STATEMENTS_PER_HORIZON,
  type WalkForwardReport,
} from '../forecast/backtest/walk-forward.ts';
import type { IntervalEstimate } from '../forecast/bootstrap.ts';
import { type Day, formatDay, toInstantMs } from '../forecast/day.ts';
import { computeFeatures } from '../forecast/features.ts';
import { fitModel } from '../forecast/fit.ts';
import { getLastDay, type InputFrame } from '../forecast/inputs.ts';
import { formatPercent } from '../forecast/math.ts';
import {
  formatHorizonName,
  formatModelVersion,
  getBlockIndex,
  getBlockStart,
  HORIZONS,
  MODEL_INPUTS,
  MODEL_NAME,
} from '../forecast/model.ts';
import { MODEL_VERSIONS } from '../forecast/models.ts';
import { MOVE_SIZES } from '../forecast/move.ts';
import { MOVE_MODEL } from '../forecast/move-forecaster.ts';
import { REGIME_NAMES, REGIME_RULE_TERMS, REGIME_RULES, REGIMES } from '../forecast/regime.ts';
import { openCsvFeed } from '../market/csv.ts';
import type { Feed } from '../market/feed.ts';
import { PROVIDERS } from '../market/live/provider.ts';
import { createMarket } from '../market/market.ts';
import { openSimulatedFeed } from '../market/simulated.ts';
import { getProviderIds } from '../market/sources/registry.ts';
import { getVintages, readHistoryThrough, readPointInTimeFrames } from '../pipeline/pipeline.ts';
import { computeReports } from '../pipeline/self-test-process.ts';
import {
  buildFitCard,
  CAVEATS,
  INTENDED_USE,
  KNOWN_FAILURES,
  METHOD,
  MODEL_INPUT_SERIES,
  NOT_INTENDED_FOR,
  VERSION_STATEMENTS,
} from '../record/model-card.ts';

const FILE = resolve(import.meta.dirname, '../../docs/MODEL.md');
/** Markers around the section from recorded history, whose files are not in the repository. */
const BEGIN_MARKER = '<!-- recorded -->';
const END_MARKER = '<!-- /recorded -->';
const NOT_RECORDED_TEXT = 'Not generated yet: run `npm run docs:model -- --data <folder>` with a folder of CSV files ([DATA.md](DATA.md)).';

/** Writes docs/MODEL.md. Option `--data <folder of CSV files>`; without it the section from recorded history is kept. */
export async function writeModelDocument(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { data: { type: 'string' } } });
  // Read first, as this section cannot be rebuilt without its files.
  const recorded =
    values.data === undefined
      ? extractRecordedSection(await readFile(FILE, 'utf8'))
      : await renderRecordedSection(await loadRecordedHistory(values.data));
  await writeFile(FILE, await renderModelPage(await loadSimulatedHistory(), recorded));
}

/** The section from recorded history; null for a page without one. */
export function extractRecordedSection(page: string): string | null {
  const [, rest] = page.split(`${BEGIN_MARKER}\n`);
  return rest === undefined ? null : rest.slice(0, rest.indexOf(`\n${END_MARKER}`)).trim();
}

export async function renderRecordedSection(history: ModelHistory): Promise<string> {
  return `Daily history assembled from the sources above and, for early prices and realized prices, from Coin Metrics (CC BY-NC 4.0). It may not be
redistributed and is not part of this repository. With the same files, \`npm run docs:model -- --data <folder>\` generates this section and
\`FEEDS=csv:<folder> npm run self-test\` prints the full reports. ${await renderResults(history)}

${renderSizing(history.frame)}`;
}

export async function renderModelPage(simulated: ModelHistory, recorded: string | null): Promise<string> {
  return [
    renderModelCard(),
    '## Results on recorded history',
    `${BEGIN_MARKER}\n${recorded ?? NOT_RECORDED_TEXT}\n${END_MARKER}`,
    '## Results on the simulated market',
    `No evidence about Bitcoin: the market is simulated, with days until ${formatDay(LAST_SIMULATED_DAY)}. \`npm run docs:model\` writes what the self-tests say of the code, to the
digit; \`FEEDS=simulated npm run self-test\` prints them whole.\n\n${await renderVerdicts(simulated)}`,
  ]
    .join('\n\n')
    .concat('\n');
}

export function renderModelCard(): string {
  return [
    `# Model card: \`${MODEL_NAME}\``,
    `The model that forecasts BTC/USD for ${HORIZONS.map(formatHorizonName).join(', ')}. A running service serves this card at \`/api/svc/info\` with the coefficients and digests
of its current fit, and recomputes the results below. Generated by \`npm run docs:model\`.`,
    '## What it is for',
    renderMarkdownList(INTENDED_USE),
    '## What it is not for',
    renderMarkdownList(NOT_INTENDED_FOR),
    '## Known failures',
    renderMarkdownList(KNOWN_FAILURES),
    '## Limits',
    renderMarkdownList(CAVEATS),
    '## Inputs',
    renderInputs(),
    `The forecast of day t, made at 21:35 UTC, reads values dated at least \`lag\` days before t and masks those older than \`stale\` days. The price is current to the minute. [DATA.md](DATA.md#live-providers) has the providers.`,
    `Terms of the providers' data, as far as known; operators on live data must verify them:`,
    renderLicences(),
    '## Method',
    renderMarkdownList(METHOD),
    '## Versions',
    renderVersions(),
    '## Regimes',
    renderRegimes(),
    `${REGIME_RULE_TERMS}. The first rule that holds applies. A crisis lasts at least five days.`,
  ].join('\n\n');
}

function renderVersions(): string {
  const sections = MODEL_VERSIONS.map(({ name, title }) => {
    const { reads, method, findings } = VERSION_STATEMENTS[name];
    return [`### \`${name}\`: ${title}`, `Its distributions read ${reads.join(', ')}.`, ...[method, findings].map(renderMarkdownList)].join(
      '\n\n',
    );
  });
  return [
    'All versions share the direction: scores, P(up) and signal. They differ in the distribution. One is the champion, which the service forecasts by (`MODEL_CHAMPION`); the others are challengers, committed and scored beside it.',
    ...sections,
  ].join('\n\n');
}

function renderInputs(): string {
  const rows = MODEL_INPUT_SERIES.map(({ title, unit, lagDays, staleDays, enters }) => [
    title,
    unit,
    `${lagDays}`,
    `${staleDays}`,
    enters.length === 0 ? 'distribution' : enters.join(', '),
  ]);
  return renderMarkdownTable(['Series', 'Unit', 'Lag', 'Stale', 'Enters'], rows);
}

function renderLicences(): string {
  const ids = new Set(MODEL_INPUT_SERIES.flatMap(({ series }) => getProviderIds(series)));
  const byTerms = Map.groupBy(ids, (id) => PROVIDERS[id].licence);
  return renderMarkdownList([...byTerms].map(([terms, named]) => `${named.map((id) => PROVIDERS[id].title).join(', ')}: ${terms}`));
}

function renderRegimes(): string {
  const rows = REGIME_NAMES.map((regime) => {
    const { theta, riskLevel, daysToEnter } = REGIMES[regime];
    return [regime, REGIME_RULES[regime], `${theta}`, `${daysToEnter}`, riskLevel];
  });
  return renderMarkdownTable(['Regime', 'Rule', 'theta', 'Days to enter', 'Risk'], rows);
}

/** A Markdown table with padded columns, as the formatter writes it. */
function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((cells) => cells[column].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function renderMarkdownList(points: readonly string[]): string {
  return points.map((point) => `- ${point}`).join('\n');
}

function renderNumber(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? 'none' : value.toFixed(digits);
}

/** A difference or skill in percent with its interval: `0.17 (-0.32 to 0.68)`. */
export function renderWithInterval({ value, low, high }: IntervalEstimate): string {
  const hundredths = (share: number) => (100 * share).toFixed(2).replace(/^-(0\.00)$/, '$1');
  return low === null || high === null ? hundredths(value) : `${hundredths(value)} (${hundredths(low)} to ${hundredths(high)})`;
}

export interface ModelHistory {
  source: string;
  frame: InputFrame;
  /** Point-in-time data of some days. */
  pointInTime(): Promise<PointInTimeFrame[]>;
  vintages: Vintages;
}

/** First day with all outcomes of the expected folds. */
const LAST_SIMULATED_DAY: Day = getBlockStart(EXPECTED_FOLDS) - 1 + Math.max(...HORIZONS);

export function loadSimulatedHistory(): Promise<ModelHistory> {
  return loadHistory(openSimulatedFeed(), LAST_SIMULATED_DAY);
}

/** The history of a CSV folder. @throws OracleError FEED_INVALID naming file and line */
export async function loadRecordedHistory(folder: string): Promise<ModelHistory> {
  const feed = await openCsvFeed(folder);
  const { lastDay } = await feed.coverage();
  return loadHistory(feed, lastDay!);
}

async function loadHistory(feed: Feed, lastDay: Day): Promise<ModelHistory> {
  const market = createMarket(feed);
  const { frame } = await readHistoryThrough(market, lastDay, new Date(toInstantMs(lastDay + 1)));
  return { source: feed.source, frame, pointInTime: () => readPointInTimeFrames(market, frame), vintages: getVintages(market) };
}

const TESTS = ['walk-forward', 'overfitting', 'contamination', 'stability'] as const;

/** The fit of the last day and the results of all self-tests. */
async function renderResults({ frame, pointInTime, vintages }: ModelHistory): Promise<string> {
  const sections = [`From ${formatDay(frame.firstDay)} to ${formatDay(getLastDay(frame))}.`, renderFit(frame)];
  for (const computed of computeReports({ frame, pointInTime: await pointInTime(), vintages }, TESTS)) {
    if (computed.name === 'walk-forward') sections.push(renderWalkForwardResults(computed.report), ...renderAgreement(frame));
    else if (computed.name === 'overfitting') sections.push(renderOverfittingResults(computed.report));
    else if (computed.name === 'contamination') sections.push(renderContaminationResults(computed.report));
    else sections.push(renderStabilityResults(computed.report));
  }
  return sections.join('\n\n');
}

/** What the self-tests say of the code, on data that are no evidence about the market. */
async function renderVerdicts({ frame, pointInTime, vintages }: ModelHistory): Promise<string> {
  const tests = ['walk-forward', 'contamination', 'stability'] as const;
  const reports = computeReports({ frame, pointInTime: await pointInTime(), vintages }, tests);
  return renderMarkdownList(
    [...reports].map(({ name, report }) => `${name === 'walk-forward' ? 'leak canaries' : name}: ${report.verdict}.`),
  );
}

/** The fit of the last day, without its calibration, which would reveal open forecasts of services that use it. */
function renderFit(frame: InputFrame): string {
  const features = computeFeatures(frame);
  const block = getBlockIndex(getLastDay(frame));
  const rows = HORIZONS.map((horizon) => formatFitRow(buildFitCard(fitModel({ closes: frame.close, features, horizon, block }), false)));
  const head = ['Horizon', 'Trained', 'Days', 'Base rate', ...MODEL_INPUTS];
  return `Coefficients of \`${formatModelVersion(block)}\`, the fit in force on the last day:\n\n${renderMarkdownTable(head, rows)}`;
}

function formatFitRow({
  horizon,
  trainedFrom,
  trainedTo,
  trainingDays,
  baseRate,
  coefficients,
}: ReturnType<typeof buildFitCard>): string[] {
  const weights = MODEL_INPUTS.map((name) => coefficients[name].toFixed(4));
  return [horizon, `${trainedFrom} to ${trainedTo}`, `${trainingDays}`, baseRate.toFixed(4), ...weights];
}

export function renderWalkForwardResults(report: WalkForwardReport): string {
  const { folds, expectedFolds, foldDays, note, verdict, horizons } = report;
  const complete = horizons.filter(({ pooled }) => pooled !== null);
  return [
    `Walk-forward: ${folds} of ${expectedFolds} folds of ${foldDays} days each, each forecast by a model fitted before it.${note === null ? '' : ` ${note}.`}`,
    renderMarkdownTable(
      [
        'Horizon',
        'Days',
        'BUY / SELL / HOLD',
        'Right',
        'Always UP',
        'Difference, points (95 %)',
        'Brier skill, % (95 %)',
        'CRPS skill, all returns, % (95 %)',
        'CRPS skill, recent returns, % (95 %)',
        'CRPS skill, GARCH(1,1)-t, % (95 %)',
        '80 % holds, % (95 %)',
        'Independent a year, measured (95 %) / by overlap',
        'Years to prove 3 / 10 points',
      ],
      complete.map(formatPooledRow),
    ),
    renderColumnMeanings(complete.length),
    renderFoldSpread(complete),
    renderVersionResults(report.versions),
    ...renderMoveResults(report.moves),
    `Leak canaries: ${verdict}.`,
  ].join('\n\n');
}

function renderColumnMeanings(horizons: number): string {
  return (
    'Right: share of days on which the likelier direction came true, HOLD included. Brier skill: of P(up), against the base rate known at the time. CRPS skill: of the distribution, against the returns of all training days, the last ' +
    `${RECENT_RETURN_DAYS} of them, which shape it, and GARCH(1,1)-t. 80 % holds: share of outcomes within the central 80 %. Independent a year: effective number of daily calls, estimated from the variance of the hit rate, and from the overlap of the windows alone. Years to prove: time until an advantage of so many points is significant. Intervals are not adjusted for multiple tests: of ${horizons * STATEMENTS_PER_HORIZON}, some are expected to exclude zero by chance.`
  );
}

/** Nothing for a history without a fold. */
function renderMoveResults(moves: WalkForwardReport['moves']): string[] {
  const { from, to } = LAST_LOOK_FOLDS;
  const rows = moves.flatMap(({ horizon, pooled, lastLook }) =>
    [
      { days: 'all folds', walk: pooled },
      { days: `folds ${from} to ${to}`, walk: lastLook },
    ].flatMap(({ days, walk }) => (walk === null ? [] : [[horizon, days, ...formatMoveRow(walk)]])),
  );
  if (rows.length === 0) return [];
  const head = ['Horizon', 'Days', 'n', 'Big', 'Below the frequency, % (95 %)', 'EWMA below it, % (95 %)', 'Below EWMA, % (95 %)'];
  return [
    `Size of the move, by \`${MOVE_MODEL.name}\`, as under "Known failures": Brier score of P(big move) below that of the frequency of four years, and of EWMA. CALM, USUAL, WILD: share of big moves on days whose width is in the lowest, middle and highest third of the 730 days before. Exploratory: looked at once, after the last look at folds ${from} to ${to}.`,
    renderMarkdownTable([...head, ...MOVE_SIZES, 'WILD less CALM, points (95 %)'], rows),
  ];
}

function formatMoveRow({ n, big, overFrequency, ewmaOverFrequency, overEwma, bySize, wildLessCalm }: NonNullable<MoveReport['pooled']>) {
  const cells = [overFrequency, ewmaOverFrequency, overEwma, wildLessCalm].map((one) => (one === null ? 'none' : renderWithInterval(one)));
  const shares = bySize.map((one) => (one.big === null ? 'none' : formatPercent(one.big)));
  return [`${n}`, formatPercent(big!), ...cells.slice(0, 3), ...shares, cells[3]];
}

function formatPooledRow({ horizon, pooled }: HorizonWalkForward): string[] {
  const { n, signals, direction, directions, statistics, crpsSkill, recentCrpsSkill, garchCrpsSkill, coverage80, worth } = pooled!;
  const skill = statistics.probabilities!.climatologySkill;
  return [
    horizon,
    `${n}`,
    `${signals.buy} / ${signals.sell} / ${signals.hold}`,
    formatPercent(direction.accuracy!),
    formatPercent(direction.alwaysUp!.accuracy),
    directions.down === 0 ? SAME_CALLS : renderWithInterval(direction.alwaysUp!.difference),
    skill === null ? 'none' : renderWithInterval(skill),
    renderWithInterval(crpsSkill),
    renderWithInterval(recentCrpsSkill),
    renderWithInterval(garchCrpsSkill),
    renderWithInterval(coverage80),
    formatIndependence(worth),
    worth.proof.map(({ years }) => renderNumber(years, 1)).join(' / '),
  ];
}

/** For calls equal to always calling UP. */
const SAME_CALLS = 'same calls';

function formatIndependence({
  independentPerYear,
  independentPerYear95: range,
  independentPerYearByOverlap,
}: PooledReport['worth']): string {
  const bounds = range === null ? '' : ` (${renderNumber(range.low, 0)} to ${renderNumber(range.high, 0)})`;
  return `${renderNumber(independentPerYear, 0)}${bounds} / ${renderNumber(independentPerYearByOverlap, 0)}`;
}

/** How far single folds are from the pooled figures, at the longest horizon. */
function renderFoldSpread(horizons: readonly HorizonWalkForward[]): string {
  const { horizon = '', folds = [] } = horizons.at(-1) ?? {};
  const right = folds.map(({ accuracy }) => accuracy).toSorted((a, b) => a - b);
  const better = folds.filter(({ brier, climatologyBrier }) => brier < climatologyBrier).length;
  return `By fold, at ${horizon}: right on ${formatPercent(right.at(0) ?? 0)} of days in the worst and on ${formatPercent(right.at(-1) ?? 0)} in the best; Brier score below that of the base rate in ${better} of ${folds.length}. \`npm run self-test\` prints each fold.`;
}

/** What shorter horizons, which are revealed earlier, imply about the longest; empty without a fold. */
function renderAgreement(frame: InputFrame): string[] {
  const agreements = compareHorizons({ closes: frame.close, features: computeFeatures(frame) });
  if (agreements.length === 0) return [];
  const { longest, n, mostFrequentDirection, mostFrequentSignal } = agreements[0];
  const rows = agreements.map(({ horizon, sameDirection, sameSignal, correlation }) => [
    horizon,
    formatPercent(sameDirection),
    formatPercent(sameSignal),
    renderNumber(correlation, 2),
  ]);
  return [
    `Agreement of shorter horizons with the ${longest} forecast of the same day, on ${n} days. They are revealed while it is still open. A guess of the most frequent value matches its direction on ${formatPercent(mostFrequentDirection)} of days and its signal on ${formatPercent(mostFrequentSignal)}. P(up) is revealed too and is more informative than the signal.`,
    renderMarkdownTable(['Horizon', 'Same direction', 'Same signal', 'Correlation of P(up)'], rows),
  ];
}

export function renderContaminationResults({ horizons, splitDay, verdict }: ContaminationReport): string {
  const rows = horizons.flatMap(({ horizonDays, preEtf, postEtf }) =>
    [preEtf, postEtf].map((era, index) => [
      formatHorizonName(horizonDays),
      index === 0 ? `before ${splitDay}` : `since ${splitDay}`,
      `${era.n}`,
      renderNumber(era.effectiveN, 0),
      era.accuracy === null ? 'none' : formatPercent(era.accuracy),
      era.n > 0 && era.downs === 0 ? SAME_CALLS : formatEstimate(era.edge),
      ...[era.brierSkill, era.crpsSkill, era.recentCrpsSkill].map(formatEstimate),
    ]),
  );
  const head = [
    'Horizon',
    'Days',
    'n',
    'Worth',
    'Right',
    'Less always UP, points (95 %)',
    'Brier skill, % (95 %)',
    'CRPS skill, all returns, % (95 %)',
    'CRPS skill, recent returns, % (95 %)',
  ];
  return [`Contamination: ${verdict}.`, renderMarkdownTable(head, rows)].join('\n\n');
}

function formatEstimate(found: EraFigures['edge']): string {
  return found === null ? 'none' : renderWithInterval(found);
}

function renderOverfittingResults({ horizons, trials, ledger, verdict }: OverfittingReport): string {
  const recomputable = ledger.filter((row) => row.recomputable).length;
  const ranks = horizons.map(({ horizonDays, modelRank }) => `${modelRank ?? 'none'} at ${formatHorizonName(horizonDays)}`).join(', ');
  return `Trials: ${trials} are deflated for. ${verdict} Rank of this model by Brier score among the ${recomputable}: ${ranks}.`;
}

function renderStabilityResults({ horizons, verdict, draws, scheme }: StabilityReport): string {
  const levels = horizons[0].joint.map(({ levelPct }) => levelPct);
  const rows = horizons.map(({ horizonDays, calls, accuracy, joint, result }) => [
    formatHorizonName(horizonDays),
    `${calls}`,
    accuracy === null ? 'none' : formatPercent(accuracy),
    ...joint.map(({ p95Points }) => renderNumber(p95Points, 1)),
    result ?? 'none',
  ]);
  const head = ['Horizon', 'Calls', 'Right', ...levels.map((level) => `Moved by ${level} %, points`), 'Result'];
  return [`Stability: ${verdict}.`, renderMarkdownTable(head, rows), `${scheme}. 95th percentile of ${draws} draws.`].join('\n\n');
}

const LAST_LOOK = `folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}`;

/** CRPS and coverage of every version, all folds together. */
function renderVersionResults(versions: readonly VersionReport[]): string {
  const [reference] = versions;
  return [
    `Versions on the same days with the same P(up). CRPS in log-return units times 1000, lower is better. Gain: CRPS below that of \`${reference.name}\`, with the interval of the paired block bootstrap. Versions after the first were chosen on earlier folds; ${LAST_LOOK} were looked at once.`,
    renderPooledTable(versions),
  ].join('\n\n');
}

function renderPooledTable(versions: readonly VersionReport[]): string {
  const rows = versions.flatMap(({ name, horizons }) =>
    horizons.flatMap(({ horizon, folds, foldsBetter, pooled, lastLook }) => {
      if (pooled === null) return [];
      const gains = [pooled.gain, lastLook?.gain ?? null].map((gain) => (gain === null ? 'none' : renderWithInterval(gain)));
      const better = foldsBetter === null ? 'none' : `${foldsBetter} of ${folds.length}`;
      return [[name, horizon, formatCrps(pooled.crps), gains[0], better, gains[1], ...pooled.coverage.map(renderWithInterval)]];
    }),
  );
  const head = ['Version', 'Horizon', 'CRPS', 'Gain, all folds, % (95 %)', 'Folds better', `Gain, ${LAST_LOOK}, % (95 %)`];
  return renderMarkdownTable([...head, ...COVERED_SHARES.map((nominal) => `${100 * nominal} % holds, % (95 %)`)], rows);
}

function formatCrps(crps: number): string {
  return renderNumber(1_000 * crps, 3);
}

const SIZING_TITLES: Record<SizingFigure, string> = {
  volatility: 'volatility',
  volatilityDeviation: 'standard deviation of the 30-day volatility',
  drawdown: 'maximum drawdown',
  meanReturn: 'mean return',
  sharpe: 'Sharpe ratio (no percentage)',
};

/** What a size by the width of a forecast is worth to a holder of bitcoin, against two references. */
export function renderSizing(frame: InputFrame): string {
  const report = compareSizings(frame);
  if (report === null) return 'Size by the width: the history has no complete fold.';
  const { days, firstDay, lastDay, byCost } = report;
  const head = ['Annualised, % of the capital', 'Costs', 'By width', 'Constant', 'By EWMA', 'Less constant (95 %)', 'Less EWMA (95 %)'];
  return [
    `Size by the width: a holder has a share of the capital in bitcoin from each close to the next, on ${days} days (${firstDay} to ${lastDay}): a constant risk over the distance of a stop, 1 - exp(-width90 / 2) of the published 1-day width, against the same size each day, and against the same rule by plain EWMA volatility (.94). All have a mean size of ${formatPercent(MEAN_SIZE, 0)} of the capital, a level chosen with all days known; no stop is executed, and costs are a share of what is bought and sold. Intervals by blocks of ${SIZING_BLOCK_DAYS} days; a single worst day has none. \`npm run bench -- sizing --data <folder>\` prints this.`,
    renderMarkdownTable(head, byCost.flatMap(listSizingRows)),
  ].join('\n\n');
}

type SizingAtCost = SizingReport['byCost'][number];

function listSizingRows({ cost, sizings, differences }: SizingAtCost): string[][] {
  const percent = formatPercent(cost);
  const figures = SIZING_FIGURES.map((name) => {
    // A ratio, so that hundredths are what it is read in.
    const scale = name === 'sharpe' ? 0.01 : 1;
    const bounded = differences.map(({ [name]: { value, low, high } }) =>
      renderWithInterval({ value: scale * value, low: low && scale * low, high: high && scale * high }),
    );
    return [SIZING_TITLES[name], percent, ...sizings.map((one) => renderNumber(100 * scale * one[name], 2)), ...bounded];
  });
  const more = (title: string, of: (one: SizingAtCost['sizings'][number]) => number) => {
    const [width90, ...references] = sizings.map(of);
    const apart = references.map((reference) => renderNumber(100 * (width90 - reference), 2));
    return [title, percent, ...[width90, ...references].map((value) => renderNumber(100 * value, 2)), ...apart];
  };
  const [worst, traded] = [more('worst day', ({ worstDay }) => worstDay), more('bought and sold', ({ tradedPerYear }) => tradedPerYear)];
  return cost === 0 ? [...figures, worst, traded] : figures.slice(SIZING_FIGURES.indexOf('drawdown'));
}
