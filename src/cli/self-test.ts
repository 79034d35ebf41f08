import packageJson from '../../package.json' with { type: 'json' };
import type { StartupContext } from '../app/infrastructure.ts';
import { computeCodeVersion } from '../app/pipeline.ts';
import { isOracleError, OracleError, UsageError } from '../errors.ts';
import type { ContaminationReport, EraFigures, HorizonEras, LagMutant } from '../forecast/backtest/contamination.ts';
import type { MoveReport } from '../forecast/backtest/move-walk.ts';
import { LAST_LOOK_FOLDS, RECENT_RETURN_DAYS } from '../forecast/backtest/out-of-sample.ts';
import type { HorizonOverfitting, LedgerRow, OverfittingReport } from '../forecast/backtest/overfitting.ts';
import type { StabilityReport } from '../forecast/backtest/stability.ts';
import { COVERED_SHARES, type VersionHorizonReport, type VersionReport } from '../forecast/backtest/versions.ts';
import type { buildFoldReport, HorizonWalkForward, WalkForwardReport } from '../forecast/backtest/walk-forward.ts';
import { formatDay, toDay } from '../forecast/day.ts';
import { MOVE_SIZES } from '../forecast/move.ts';
import { isLiveReachable } from '../market/live/live-market.ts';
import { parseProviderUrls } from '../market/live/providers.ts';
import { chooseFeed, createMarket, type Market } from '../market/market.ts';
import { getVintages, readHistoryThrough, readPointInTimeFrames } from '../pipeline/pipeline.ts';
import {
  COMPUTATIONS,
  type ComputationName,
  type ComputedReport,
  computeInProcess,
  type TimedReport,
} from '../pipeline/self-test-process.ts';
import { createProgressBar } from '../platform/progress.ts';
import { assembleAttachable } from './pipeline.ts';
import { openOrAttach, parseOrFail, runToEnd } from './script.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const COMPUTATION_NAMES = Object.keys(COMPUTATIONS) as ComputationName[];

const SYNTAX: CommandSyntax = {
  name: 'npm run -s self-test --',
  arguments: '[tests...]',
  example: 'npm run -s self-test -- all',
  summary: 'Runs self-tests on the history that FEEDS names and prints the results',
  description: `[tests] are all, or any of ${COMPUTATION_NAMES.join(', ')} (default: walk-forward). Read-only, without a running service. Simulated data and files (FEEDS=csv:<folder>) are read on their own; live data is read from the database.`,
  options: [['--json', 'print JSON']],
  footer: `Exits with 0, with 1 when a canary fails or a planted fault is not caught, with 2 on a usage error or when it cannot run.`,
};

const EXIT_UNHEALTHY = 1;
const EXIT_USAGE = 2;

export async function runSelfTestCommand(args: string[]): Promise<void> {
  const command = parseOrFail(() => parseSelfTestCommand(args), EXIT_USAGE);
  if (command === null) return;
  await runToEnd(async (context) => {
    const computed = await computeSelfTests(context, command.names);
    const { reports } = computed;
    process.stdout.write(command.json ? `${JSON.stringify(computed, null, 2)}\n` : formatSelfTests(formatHistory(computed), reports));
    return reports.every(({ report }) => !('healthy' in report) || report.healthy) ? 0 : EXIT_UNHEALTHY;
  }, EXIT_USAGE);
}

/** @returns null after printing the help @throws UsageError */
export function parseSelfTestCommand(args: string[]): { names: ComputationName[]; json: boolean } | null {
  const parsed = parseCommandLine<{ json?: boolean }>(SYNTAX, args, process.stdout);
  if (parsed === null) return null;
  const { values, positionals } = parsed;
  const unknown = positionals.find((word) => word !== 'all' && !(COMPUTATION_NAMES as string[]).includes(word));
  if (unknown !== undefined) throw new UsageError('test', `"${unknown}" is none of all, ${COMPUTATION_NAMES.join(', ')}`);
  const requested = positionals.length === 0 ? ['walk-forward'] : positionals;
  return { names: COMPUTATION_NAMES.filter((name) => requested.includes('all') || requested.includes(name)), json: values.json ?? false };
}

async function computeSelfTests(context: StartupContext, names: readonly ComputationName[]) {
  const now = new Date();
  const market = await openHistoryMarket(context);
  const lastDay = Math.min(toDay(now.getTime()) - 1, (await market.coverage()).lastDay ?? Number.POSITIVE_INFINITY);
  const { frame: inputs, digest } = await readHistoryThrough(market, lastDay, now);
  const pointInTime = names.includes('contamination') ? await readPointInTimeFrames(market, inputs) : [];
  const bar = createProgressBar('Self-tests');
  let done = 0;
  const onReport = ({ name, durationMs }: TimedReport) => bar.update(++done, names.length, `${name}, ${durationMs} ms`);
  const reports = await computeInProcess(
    { input: { frame: inputs, pointInTime, vintages: getVintages(market) }, names },
    { signal: context.shutdown.signal, onReport },
  );
  bar.end();
  const history = {
    source: market.source,
    firstDay: formatDay(inputs.firstDay),
    lastDay: formatDay(lastDay),
    days: inputs.close.length,
    dataDigest: digest,
    codeVersion: computeCodeVersion(packageJson.version),
  };
  return { history, reports };
}

/** Only live data needs the database. */
async function openHistoryMarket(context: StartupContext): Promise<Market> {
  const { FEEDS, SIMULATION_SEED, PROVIDER_URLS } = context.config;
  const urls = parseProviderUrls(PROVIDER_URLS ?? '');
  const choice = await chooseFeed(FEEDS, { seed: SIMULATION_SEED, isLiveReachable: () => isLiveReachable(urls) });
  const { feed, reason } = choice.selectFeed(null);
  if (reason !== null) process.stderr.write(`${reason}\n`);
  if (feed !== null) return createMarket(feed);
  try {
    return (await openOrAttach(context, assembleAttachable)).pipeline.market;
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE')) throw error;
    throw new OracleError(error.code, error.message, {
      suggestedAction: 'Start the service with FEEDS=live first: it fetches the history.',
    });
  }
}

function formatHistory({ history }: Awaited<ReturnType<typeof computeSelfTests>>): string {
  const { source, firstDay, lastDay, days, dataDigest, codeVersion } = history;
  return [
    `History: ${source}, ${days} days, ${firstDay} to ${lastDay}`,
    `Digest of the history: ${dataDigest}`,
    `Code: ${codeVersion}`,
  ].join('\n');
}

function formatContamination(report: ContaminationReport): string {
  const { splitDay, folds, expectedFolds, note, horizons, suspicions, verdict } = report;
  return [
    `Contamination: ${folds} of ${expectedFolds} folds, the ETF era begins on ${splitDay}`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    ...horizons.map(formatEraTable),
    formatAudit(report),
    formatMutantTable(report.lagMutants),
    ...suspicions.map(({ horizonDays, where, why }) => `SUSPICIOUS, ${horizonDays}d ${where}: ${why}`),
    wrapParagraph(verdict),
  ].join('\n\n');
}

function formatEraTable({ horizonDays, preEtf, postEtf, regimes }: HorizonEras): string {
  const titles = [`${horizonDays}d`, 'n', 'worth', 'right', '95 %', 'always UP', 'difference', 'Brier skill', 'CRPS skill', 'recent'];
  const rows = [
    ['before the ETFs', ...formatEra(preEtf)],
    ['since the ETFs', ...formatEra(postEtf)],
    ...regimes.map((one) => [one.regime, ...formatEra(one)]),
  ];
  return formatTextTable(titles, rows);
}

function formatEra({ n, effectiveN, accuracy, accuracy95, alwaysUp, ...differences }: EraFigures): string[] {
  const { edge, brierSkill, crpsSkill, recentCrpsSkill } = differences;
  const formatDifference = (difference: EraFigures['edge']) => (difference === null ? '-' : formatSkillCell(difference));
  return [
    String(n),
    formatCell(effectiveN, 0),
    formatCell(accuracy, 3),
    formatIntervalCell(accuracy95),
    formatCell(alwaysUp, 3),
    ...[edge, brierSkill, crpsSkill, recentCrpsSkill].map(formatDifference),
  ];
}

function formatAudit({ pointInTime: { days, differences } }: ContaminationReport): string {
  const found = differences.map(
    ({ day, feature, known, computed }) => `  ${day} ${feature}: ${known ?? 'masked'} then, ${computed ?? 'masked'} now`,
  );
  const head = `As known at 21:35 UTC of ${days.length} days: ${differences.length} features differ from those of the whole history`;
  return [head, ...found].join('\n');
}

const MAX_FEATURES = 3;

function formatMutantTable(mutants: readonly LagMutant[]): string {
  const rows = mutants.map(({ input, applicable, caught, features, days }) => {
    const result = applicable ? (caught ? 'caught' : 'NOT CAUGHT') : 'not applicable';
    const more = features.length - MAX_FEATURES;
    const shown = `${features.slice(0, MAX_FEATURES).join(' ')}${more > 0 ? ` and ${more} more` : ''}`;
    return [input, result, String(days), features.length === 0 ? '-' : shown];
  });
  const reasons = mutants.flatMap(({ input, reason }) => (reason === null ? [] : [wrapParagraph(`${input}: ${reason}`)]));
  return ['Inputs known a day too early, planted', formatTextTable(['input', '', 'days', 'caught by'], rows), ...reasons].join('\n');
}

function formatTextTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index].length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index]) : cell.padStart(widths[index])))
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

function formatCell(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? '-' : value.toFixed(digits);
}

function formatCells(values: readonly (number | null | undefined)[], digits: number): string[] {
  return values.map((value) => formatCell(value, digits));
}

function formatPercentCell(share: number | null | undefined, digits = 1): string {
  return share === null || share === undefined ? '-' : `${(100 * share).toFixed(digits)} %`;
}

/** A difference or skill in percent, with its 95 % interval if known. */
function formatSkillCell({ value, low, high }: { value: number; low: number | null; high: number | null }): string {
  return low === null || high === null
    ? formatPercentCell(value, 2)
    : `${formatPercentCell(value, 2)} [${(100 * low).toFixed(2)}, ${(100 * high).toFixed(2)}]`;
}

function formatIntervalCell(bounds: { low: number; high: number } | null): string {
  return bounds === null ? '-' : `[${bounds.low.toFixed(3)}, ${bounds.high.toFixed(3)}]`;
}

const WIDTH = 100;

function wrapParagraph(text: string): string {
  return text.replaceAll(new RegExp(`(?=.{${WIDTH}})(.{1,${WIDTH - 1}})\\s+`, 'g'), '$1\n');
}

function formatOverfitting({ trials, horizons, ledger, note, verdict }: OverfittingReport): string {
  return [
    `Overfitting, discounted for ${trials} trials`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    formatHorizonTable(horizons),
    formatLedgerTable(ledger),
    wrapParagraph(verdict),
  ].join('\n\n');
}

function formatHorizonTable(horizons: readonly HorizonOverfitting[]): string {
  const titles = ['horizon', 'days', 'Brier', 'rank', 'PBO', 'splits', 'Sharpe followed', 'held', 'excess', 'best of luck', 'deflated'];
  const rows = horizons.map(({ horizonDays, days, modelBrier, modelRank, pbo, deflatedSharpe: sharpe }) => [
    `${horizonDays}d`,
    String(days),
    formatCell(modelBrier, 5),
    formatCell(modelRank, 0),
    formatCell(pbo?.probability, 2),
    formatCell(pbo?.splits, 0),
    ...formatCells([sharpe?.followedSharpe, sharpe?.heldSharpe, sharpe?.excessSharpe, sharpe?.expectedBest], 4),
    formatCell(sharpe?.probability, 3),
  ]);
  return formatTextTable(titles, rows);
}

/** Accuracy and Brier score of each reproducible trial, one pair of columns per horizon. */
function formatLedgerTable(ledger: readonly LedgerRow[]): string {
  const judged = ledger.find(({ figures }) => figures.length > 0)?.figures ?? [];
  const titles = ['trial', 'counts', ...judged.flatMap(({ horizonDays }) => [`${horizonDays}d Brier`, `${horizonDays}d right`])];
  const rows = ledger.map(({ id, trials, figures }) => [
    id,
    String(trials),
    ...judged.flatMap((_, index) => [formatCell(figures[index]?.brier, 5), formatPercentCell(figures[index]?.accuracy)]),
  ]);
  return `Ledger of trials\n${formatTextTable(titles, rows)}`;
}

const MAX_ROWS = 12;

function formatStability(report: StabilityReport): string {
  const { draws, seed, scheme, note, verdict } = report;
  return [
    `Stability: ${report.result ?? 'not known'}, ${draws} draws of each level, seed ${seed}`,
    scheme,
    ...(note === null ? [] : [wrapParagraph(note)]),
    formatJointTable(report),
    formatSingleTable(report),
    wrapParagraph(verdict),
  ].join('\n\n');
}

function formatJointTable({ horizons }: StabilityReport): string {
  const rows = horizons.flatMap(({ horizonDays, calls, accuracy, result, joint }) =>
    joint.map(({ levelPct, p50Points, p95Points, maxPoints }) => {
      const changes = formatCells([p50Points, p95Points, maxPoints], 2);
      return [`${horizonDays}d`, String(calls), formatPercentCell(accuracy), `${levelPct} %`, ...changes, result ?? '-'];
    }),
  );
  const titles = ['horizon', 'calls', 'right', 'level', 'median', '95th percentile', 'largest', 'result'];
  return `All thresholds together: change in the accuracy of calls, points\n${formatTextTable(titles, rows)}`;
}

function formatSingleTable({ single }: StabilityReport): string {
  const horizons = single[0]?.horizons ?? [];
  const columns = horizons.flatMap(({ horizonDays }) => [`${horizonDays}d points`, `${horizonDays}d calls`]);
  const rows = single.slice(0, MAX_ROWS).map(({ threshold, value, changePct, horizons: effects }) => {
    const changes = effects.flatMap(({ accuracyChangePoints, callsChange }) => [formatCell(accuracyChangePoints, 2), String(callsChange)]);
    return [threshold, String(value), `${changePct} %`, ...changes];
  });
  const titles = ['threshold', 'value', 'moved', ...columns];
  return `One threshold at a time, the ${MAX_ROWS} largest effects\n${formatTextTable(titles, rows)}`;
}

function formatWalkForward(report: WalkForwardReport): string {
  const { model, firstDay, lastDay, folds, expectedFolds, foldDays, embargoDays, trainingStart, note } = report;
  return [
    `Walk-forward of ${model}: ${folds} of ${expectedFolds} folds of ${foldDays} days, history ${firstDay} to ${lastDay}, training from ${trainingStart}, embargo ${embargoDays} days, purge as long as the horizon`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    ...report.horizons.map(formatHorizonRows),
    formatPooledTable(report.horizons),
    formatVersions(report.versions),
    formatMoves(report.moves),
    formatCanaryTable(report),
    wrapParagraph(report.verdict),
  ].join('\n\n');
}

const FOLD_COLUMNS: readonly [title: string, cell: (fold: FoldReport) => string][] = [
  ['fold', ({ fold }) => String(fold)],
  ['from', ({ from }) => from],
  ['to', ({ to }) => to],
  ['n', ({ n }) => String(n)],
  ['base', ({ base }) => formatCell(base, 3)],
  ['right', ({ accuracy }) => formatCell(accuracy, 3)],
  ['calls', ({ calls }) => String(calls)],
  ['hits', ({ hits }) => String(hits)],
  ['Brier', ({ brier }) => formatCell(brier, 5)],
  ['climatology', ({ climatologyBrier }) => formatCell(climatologyBrier, 5)],
  ['log', ({ logScore }) => formatCell(logScore, 5)],
  ['CRPS', ({ crps }) => formatCell(crps, 6)],
  ['climatology', ({ climatologyCrps }) => formatCell(climatologyCrps, 6)],
  ['recent', ({ recentCrps }) => formatCell(recentCrps, 6)],
  ['80 %', ({ coverage80 }) => formatCell(coverage80, 3)],
];

type FoldReport = ReturnType<typeof buildFoldReport>;

function formatHorizonRows({ horizon, folds, verdict }: HorizonWalkForward): string {
  const titles = FOLD_COLUMNS.map(([title]) => title);
  const rows = folds.map((fold) => FOLD_COLUMNS.map(([, cell]) => cell(fold)));
  return `Horizon ${horizon}\n${formatTextTable(titles, rows)}\n${wrapParagraph(verdict)}`;
}

/** One row per figure, one column per horizon. */
function formatPooledTable(horizons: readonly HorizonWalkForward[]): string {
  const pooled = horizons.map((one) => one.pooled);
  type Pooled = NonNullable<(typeof pooled)[number]>;
  const row = (title: string, cell: (of: Pooled) => string) => [title, ...pooled.map((of) => (of === null ? '-' : cell(of)))];
  const rows = [
    row('days', ({ n }) => String(n)),
    row('BUY / SELL / HOLD', ({ signals }) => `${signals.buy} / ${signals.sell} / ${signals.hold}`),
    row('calls right', ({ statistics: { calls } }) => formatCell(calls.accuracy, 3)),
    row('95 % by bootstrap', ({ statistics: { calls } }) => formatIntervalCell(calls.bootstrap95)),
    row('direction right, every day', ({ direction }) => formatCell(direction.accuracy, 3)),
    row('95 % by bootstrap', ({ direction }) => formatIntervalCell(direction.bootstrap95)),
    row('always UP', ({ direction }) => formatCell(direction.alwaysUp?.accuracy, 3)),
    row('direction less always UP', ({ direction }) =>
      direction.alwaysUp === null ? '-' : formatSkillCell(direction.alwaysUp.difference),
    ),
    row('Brier', ({ statistics: { probabilities } }) => formatCell(probabilities?.brier, 5)),
    row('Brier skill, base rate', ({ statistics: { probabilities } }) => {
      const against = probabilities?.climatologySkill;
      return against ? formatSkillCell(against) : '-';
    }),
    row('CRPS skill, all returns', ({ crpsSkill }) => formatSkillCell(crpsSkill)),
    row(`CRPS skill, last ${RECENT_RETURN_DAYS} days' returns`, ({ recentCrpsSkill }) => formatSkillCell(recentCrpsSkill)),
    row('CRPS skill, GARCH(1,1)-t', ({ garchCrpsSkill }) => formatSkillCell(garchCrpsSkill)),
    row('central 80 % holds', ({ coverage80 }) => formatSkillCell(coverage80)),
    row('independent calls a year', ({ worth }) => formatCell(worth.independentPerYear, 0)),
    row('95 %', ({ worth: { independentPerYear95: range } }) =>
      range === null ? '-' : `${formatCell(range.low, 0)} to ${formatCell(range.high, 0)}`,
    ),
    row('the same by overlap alone', ({ worth }) => formatCell(worth.independentPerYearByOverlap, 0)),
  ];
  return `All folds together\n${formatTextTable(['', ...horizons.map(({ horizon }) => horizon)], rows)}`;
}

function formatCanaryTable({ canaries }: WalkForwardReport): string {
  const rows = canaries.flatMap(({ name, versions, unit, figure: found, limit, passed, mutants }) => [
    [
      name,
      versions.join(', '),
      found === null ? '-' : found.toPrecision(3),
      limit === null ? '-' : String(limit),
      passed === null ? 'not run' : passed ? 'passed' : 'FAILED',
      unit,
    ],
    ...mutants.map((mutant) => [`  ${mutant.what}`, '', mutant.figure.toPrecision(3), '', mutant.caught ? 'caught' : 'NOT CAUGHT', '']),
  ]);
  return `Leak canaries, and what was broken on purpose\n${formatTextTable(['', 'versions', 'figure', 'limit', '', 'unit'], rows)}`;
}

/** CRPS of every version by fold, its gain over the first one, and coverage. */
export function formatVersions(versions: readonly VersionReport[]): string {
  const [reference] = versions;
  const head = versions.map(({ name, title, distributionTrials }) => `${name}: ${title}; ${distributionTrials} distributions were tried`);
  return [
    `Versions of the model, which share P(up); gain: CRPS below that of ${reference.name}\n${head.join('\n')}`,
    ...reference.horizons.map((_, index) => formatHorizon(versions.map(({ name, horizons }) => ({ name, ...horizons[index] })))),
    formatPooled(versions),
    wrapParagraph(
      `Folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}: looked at once. Versions after the first were chosen on the folds before them.`,
    ),
  ].join('\n\n');
}

/** Brier scores of P(big move) below those of the references, and shares of big moves by size. */
function formatMoves(moves: readonly MoveReport[]): string {
  const { from, to } = LAST_LOOK_FOLDS;
  const titles = ['', 'days', 'big', 'over the frequency', 'EWMA over it', 'over EWMA', ...MOVE_SIZES, 'WILD less CALM'];
  const rows = moves.flatMap(({ horizon, pooled, lastLook }) =>
    [
      { name: horizon, walk: pooled },
      { name: `${horizon}, folds ${from} to ${to}`, walk: lastLook },
    ].flatMap(({ name, walk }) => (walk === null ? [] : [[name, ...formatMoveCells(walk)]])),
  );
  const why =
    'Frequency: share of big moves in the last four years of training. EWMA: decay .94, with its own residuals. Exploratory: looked at once, after the last look.';
  return `Size of the move: Brier score of P(big move) below that of each reference\n${formatTextTable(titles, rows)}\n\n${wrapParagraph(why)}`;
}

function formatMoveCells({ n, big, overFrequency, ewmaOverFrequency, overEwma, bySize, wildLessCalm }: NonNullable<MoveReport['pooled']>) {
  const skills = [overFrequency, ewmaOverFrequency, overEwma, wildLessCalm].map((one) => (one === null ? '-' : formatSkillCell(one)));
  return [String(n), formatPercentCell(big), ...skills.slice(0, 3), ...bySize.map((one) => formatPercentCell(one.big)), skills[3]];
}

function formatHorizon(versions: readonly (VersionHorizonReport & { name: string })[]): string {
  const titles = versions.flatMap(({ name }, index) => [`${name} CRPS`, ...(index === 0 ? [] : ['gain']), '50 %', '80 %', '90 %']);
  const rows = versions[0].folds.map(({ fold }, at) => [
    String(fold),
    ...versions.flatMap(({ folds }) => {
      const { crps, gain, coverage50, coverage80, coverage90 } = folds[at];
      const shares = [coverage50, coverage80, coverage90].map((share) => formatCell(share, 3));
      return [formatCell(crps, 6), ...(gain === null ? [] : [formatPercentCell(gain, 2)]), ...shares];
    }),
  ]);
  return `Versions at ${versions[0].horizon}\n${formatTextTable(['fold', ...titles], rows)}`;
}

function formatPooled(versions: readonly VersionReport[]): string {
  const titles = ['', 'days', 'CRPS', 'gain', 'folds better', `folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}`];
  const rows = versions.flatMap(({ name, horizons }) =>
    horizons.map(({ horizon, folds, foldsBetter, pooled, lastLook }) => [
      `${name} ${horizon}`,
      formatCell(pooled?.n, 0),
      formatCell(pooled?.crps, 6),
      formatGain(pooled),
      foldsBetter === null ? '-' : `${foldsBetter} of ${folds.length}`,
      formatGain(lastLook),
      ...COVERED_SHARES.map((_, index) => (pooled === null ? '-' : formatSkillCell(pooled.coverage[index]))),
    ]),
  );
  const ranges = COVERED_SHARES.map((nominal) => `${formatPercentCell(nominal, 0)} holds`);
  return `Versions, all folds together\n${formatTextTable([...titles, ...ranges], rows)}`;
}

function formatGain(folds: VersionHorizonReport['lastLook']): string {
  return folds?.gain ? formatSkillCell(folds.gain) : '-';
}

const FORMATTERS: { [Name in ComputationName]: (report: ComputedReport<Name>) => string } = {
  'walk-forward': formatWalkForward,
  overfitting: formatOverfitting,
  contamination: formatContamination,
  stability: formatStability,
};

/** @param head describes the tested history */
export function formatSelfTests(head: string, reports: readonly TimedReport[]): string {
  return [head, ...reports.map((computed) => `${formatReport(computed)}\n(${computed.durationMs} ms)`)].join('\n\n').concat('\n');
}

function formatReport<Name extends ComputationName>({ name, report }: { name: Name; report: ComputedReport<Name> }): string {
  return FORMATTERS[name](report);
}
