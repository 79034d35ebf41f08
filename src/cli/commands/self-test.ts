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
import { computeInProcess } from '../../pipeline/self-test/compute-in-process.ts';
import { getVintages, readHistoryThrough, readPointInTimeFrames } from '../../pipeline/self-test/history.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { createProgressBar } from '../../platform/startup/progress-bar.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { type CommandSyntax, parseCommandLine } from '../svc/command-line.ts';
import { assembleAttachable } from './pipeline.ts';
import { openOrAttach, parseOrFail } from './script.ts';
import { formatSelfTests } from './self-test-report/reports.ts';

const COMPUTATION_NAMES = Object.keys(COMPUTATIONS) as ComputationName[];

const SYNTAX: CommandSyntax = {
  name: 'npm run -s self-test --',
  arguments: '[tests...]',
  summary: 'Runs self-tests on the history that FEEDS names and prints the results',
  description: `[tests] are all, or any of ${COMPUTATION_NAMES.join(', ')} (default: walk-forward). Read-only, without a running service. Simulated data and files (FEEDS=csv:<folder>) are read on their own; live data is read from the database.`,
  options: [['--json', 'print JSON']],
  footer: `Exits with 0, with 1 when a canary fails or a planted fault is not caught, with 2 on a usage error or when it cannot run.`,
};

const EXIT_UNHEALTHY = 1;
const EXIT_USAGE = 2;

interface TestedHistory {
  source: string;
  firstDay: string;
  lastDay: string;
  days: number;
  dataDigest: string;
  codeVersion: string;
}

export async function runSelfTestCommand(args: string[]): Promise<void> {
  const command = parseOrFail(() => parseSelfTestCommand(args), EXIT_USAGE);
  if (command === null) return;
  await runProcess(async (context) => {
    const { history, reports } = await computeSelfTests(context, command.names);
    process.stdout.write(
      command.json ? `${JSON.stringify({ history, reports }, null, 2)}\n` : formatSelfTests(formatHistory(history), reports),
    );
    await context.shutdown.stop('done');
    process.exit(reports.every(({ report }) => !('healthy' in report) || report.healthy) ? 0 : EXIT_UNHEALTHY);
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

async function computeSelfTests(
  context: StartupContext,
  names: readonly ComputationName[],
): Promise<{ history: TestedHistory; reports: TimedReport[] }> {
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

function formatHistory({ source, firstDay, lastDay, days, dataDigest, codeVersion }: TestedHistory): string {
  return [
    `History: ${source}, ${days} days, ${firstDay} to ${lastDay}`,
    `Digest of the history: ${dataDigest}`,
    `Code: ${codeVersion}`,
  ].join('\n');
}
