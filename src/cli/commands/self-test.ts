import { parseArgs } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import { computeCodeVersion } from '../../app/pipeline/code-version.ts';
import { runProcess } from '../../app/process.ts';
import type { StartupContext } from '../../app/process-context.ts';
import { formatDay, toDay } from '../../forecast/day.ts';
import { chooseFeed } from '../../market/choose-feed.ts';
import { parseProviderUrls } from '../../market/live/providers/provider-urls.ts';
import { isLiveReachable } from '../../market/live/reachability.ts';
import { createMarket, type Market } from '../../market/market.ts';
import { COMPUTATIONS, type ComputationName, type TimedReport } from '../../pipeline/self-test/computations.ts';
import { computeInThread } from '../../pipeline/self-test/compute-in-thread.ts';
import { getVintages, readHistoryThrough, readPointInTimeFrames } from '../../pipeline/self-test/history.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';
import { createProgressBar } from '../../platform/progress-bar.ts';
import { attachOrAssemble } from './pipeline.ts';
import { formatSelfTests } from './self-test-report/reports.ts';

const COMPUTATION_NAMES = Object.keys(COMPUTATIONS) as ComputationName[];

const USAGE = `Usage: npm run -s self-test -- [all | ${COMPUTATION_NAMES.join(' | ')}] ... [--json]

Runs self-tests on the history that FEEDS names and prints what they find; walk-forward unless told. Nothing is written, and no
service is needed: of simulated data and files (FEEDS=csv:<folder>) nothing else is opened, live data is read as it is stored.

  --json   for programs

Ends with 0, with 1 when a canary fails or what was broken on purpose is not caught, 2 when it was not called as it
should be, or could not run.
`;

const EXIT_UNHEALTHY = 1;
const EXIT_USAGE = 2;

interface SelfTestCommand {
  names: ComputationName[];
  json: boolean;
}

/** The history that is tested, and where it is from. */
interface TestedHistory {
  source: string;
  firstDay: string;
  lastDay: string;
  days: number;
  dataDigest: string;
  codeVersion: string;
}

/** Runs self-tests without a service: what `npm run self-test` starts. */
export async function runSelfTestCommand(args: string[]): Promise<void> {
  if (args.includes('--help') || args[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const command = parseOrPrintUsage(args);
  if (command === null) return;
  await runProcess(async (frame) => {
    const { history, reports } = await computeSelfTests(frame, command.names);
    process.stdout.write(
      command.json ? `${JSON.stringify({ history, reports }, null, 2)}\n` : formatSelfTests(formatHistory(history), reports),
    );
    await frame.shutdown.stop('done');
    process.exit(reports.every(isHealthy) ? 0 : EXIT_UNHEALTHY);
  }, EXIT_USAGE);
}

/** Null, with what is wrong said, for words that are none of this command. */
function parseOrPrintUsage(args: string[]): SelfTestCommand | null {
  try {
    return parseSelfTestCommand(args);
  } catch (error) {
    process.stderr.write(`${getErrorMessage(error)}\n${USAGE}`);
    process.exitCode = EXIT_USAGE;
    return null;
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseSelfTestCommand(args: string[]): SelfTestCommand {
  const { values, positionals } = parseSelfTestOptions(args);
  const unknown = positionals.find((word) => word !== 'all' && !(COMPUTATION_NAMES as string[]).includes(word));
  if (unknown !== undefined) throw usageError('test', `"${unknown}" is none of all, ${COMPUTATION_NAMES.join(', ')}`);
  const requested = positionals.length === 0 ? ['walk-forward'] : positionals;
  return { names: COMPUTATION_NAMES.filter((name) => requested.includes('all') || requested.includes(name)), json: values.json ?? false };
}

function parseSelfTestOptions(args: string[]) {
  try {
    return parseArgs({ args: args, options: { json: { type: 'boolean' } }, allowPositionals: true });
  } catch (error) {
    throw usageError('arguments', getErrorMessage(error));
  }
}

function usageError(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run self-test -- --help' });
}

async function computeSelfTests(
  frame: StartupContext,
  names: readonly ComputationName[],
): Promise<{ history: TestedHistory; reports: TimedReport[] }> {
  const now = new Date();
  const market = await openHistoryMarket(frame);
  const lastDay = Math.min(toDay(now.getTime()) - 1, (await market.coverage()).lastDay ?? Number.POSITIVE_INFINITY);
  const { frame: inputs, digest } = await readHistoryThrough(market, lastDay, now);
  const pointInTime = names.includes('contamination') ? await readPointInTimeFrames(market, inputs) : [];
  const bar = createProgressBar('Self-tests');
  let done = 0;
  const onReport = ({ name, durationMs }: TimedReport) => bar.update(++done, names.length, `${name}, ${durationMs} ms`);
  const reports = await computeInThread(
    { input: { frame: inputs, pointInTime, vintages: getVintages(market) }, names },
    { signal: frame.shutdown.signal, onReport },
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

/** Live data is in the database; of any other nothing but the data is opened. */
async function openHistoryMarket(frame: StartupContext): Promise<Market> {
  const { FEEDS, SIMULATION_SEED, PROVIDER_URLS } = frame.config;
  const urls = parseProviderUrls(PROVIDER_URLS ?? '');
  const choice = await chooseFeed(FEEDS, { seed: SIMULATION_SEED, isLiveReachable: () => isLiveReachable(urls) });
  const { feed, reason } = choice.selectFeed(null);
  if (reason !== null) process.stderr.write(`${reason}\n`);
  if (feed !== null) return createMarket(feed);
  try {
    return (await attachOrAssemble(frame)).pipeline.market;
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE')) throw error;
    throw new OracleError(error.code, error.message, {
      suggestedAction: 'Start the service with FEEDS=live first: it fetches the history.',
    });
  }
}

function formatHistory({ source, firstDay, lastDay, days, dataDigest, codeVersion }: TestedHistory): string {
  return [
    `History: ${source}, ${days} days, ${firstDay} to ${lastDay}`,
    `Digest of the history: ${dataDigest}`,
    `Code: ${codeVersion}`,
  ].join('\n');
}

/** Whether a test that tells of leaks, or of being blind to them, has found any. */
function isHealthy({ report }: TimedReport): boolean {
  return !('healthy' in report) || report.healthy;
}
