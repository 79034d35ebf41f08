import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { codeVersionOf } from './compose/code-version.ts';
import type { StartFrame } from './compose/frame.ts';
import { isOracleError, messageOf, OracleError } from './errors.ts';
import { dayOf, formatDay } from './forecast/day.ts';
import { createProgressBar } from './local/progress.ts';
import { selfTestText } from './local/self-test-text/reports.ts';
import { parseProviderUrls } from './market/live/provider-urls.ts';
import { isLiveReachable } from './market/live/reachable.ts';
import { createMarket, type Market } from './market/market.ts';
import { chooseFeed } from './market/open.ts';
import { COMPUTATIONS, type ComputationName, type Computed } from './pipeline/self-test/computations.ts';
import { historyThrough, pointInTimeFrames, vintagesOf } from './pipeline/self-test/history.ts';
import { computeInThread } from './pipeline/self-test/thread.ts';
import { attachOrAssemble } from './pipeline-command.ts';
import { runOrExplain } from './start.ts';

const NAMES = Object.keys(COMPUTATIONS) as ComputationName[];

const USAGE = `Usage: npm run -s self-test -- [all | ${NAMES.join(' | ')}] ... [--json]

Runs self-tests on the history that FEEDS names and prints what they find; walk-forward unless told. Nothing is written, and no
service is needed: of simulated data and files (FEEDS=csv:<folder>) nothing else is opened, live data is read as it is stored.

  --json   for programs

Ends with 0, with 1 when a canary fails or what was broken on purpose is not caught, 2 when it was not called as it
should be, or could not run.
`;

const UNHEALTHY = 1;
const MISUSED = 2;

interface Command {
  names: ComputationName[];
  json: boolean;
}

/** The history that is tested, and where it is from. */
interface History {
  source: string;
  firstDay: string;
  lastDay: string;
  days: number;
  dataDigest: string;
  codeVersion: string;
}

/** Runs self-tests without a service: what `npm run self-test` starts. */
export async function main(words: string[]): Promise<void> {
  if (words.includes('--help') || words[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const command = commandOrAdvice(words);
  if (command === null) return;
  await runOrExplain(async (frame) => {
    const { history, reports } = await run(frame, command.names);
    process.stdout.write(command.json ? `${JSON.stringify({ history, reports }, null, 2)}\n` : selfTestText(headOf(history), reports));
    await frame.shutdown.stop('done');
    process.exit(reports.every(isHealthy) ? 0 : UNHEALTHY);
  }, MISUSED);
}

/** Null, with what is wrong said, for words that are none of this command. */
function commandOrAdvice(words: string[]): Command | null {
  try {
    return parseCommand(words);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}`);
    process.exitCode = MISUSED;
    return null;
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseCommand(words: string[]): Command {
  const { values, positionals } = parsedWords(words);
  const unknown = positionals.find((word) => word !== 'all' && !(NAMES as string[]).includes(word));
  if (unknown !== undefined) throw invalid('test', `"${unknown}" is none of all, ${NAMES.join(', ')}`);
  const wanted = positionals.length === 0 ? ['walk-forward'] : positionals;
  return { names: NAMES.filter((name) => wanted.includes('all') || wanted.includes(name)), json: values.json ?? false };
}

function parsedWords(words: string[]) {
  try {
    return parseArgs({ args: words, options: { json: { type: 'boolean' } }, allowPositionals: true });
  } catch (error) {
    throw invalid('arguments', messageOf(error));
  }
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run self-test -- --help' });
}

async function run(frame: StartFrame, names: readonly ComputationName[]): Promise<{ history: History; reports: Computed[] }> {
  const now = new Date();
  const market = await openHistory(frame);
  const lastDay = Math.min(dayOf(now.getTime()) - 1, (await market.coverage()).lastDay ?? Number.POSITIVE_INFINITY);
  const { frame: inputs, digest } = await historyThrough(market, lastDay, now);
  const pointInTime = names.includes('contamination') ? await pointInTimeFrames(market, inputs) : [];
  const bar = createProgressBar('Self-tests');
  let done = 0;
  const onReport = ({ name, durationMs }: Computed) => bar.update(++done, names.length, `${name}, ${durationMs} ms`);
  const reports = await computeInThread(
    { input: { frame: inputs, pointInTime, vintages: vintagesOf(market) }, names },
    { signal: frame.shutdown.signal, onReport },
  );
  bar.end();
  const history = {
    source: market.source,
    firstDay: formatDay(inputs.firstDay),
    lastDay: formatDay(lastDay),
    days: inputs.close.length,
    dataDigest: digest,
    codeVersion: codeVersionOf(packageJson.version),
  };
  return { history, reports };
}

/** Live data is in the database; of any other nothing but the data is opened. */
async function openHistory(frame: StartFrame): Promise<Market> {
  const { FEEDS, SIMULATION_SEED, PROVIDER_URLS } = frame.config;
  const urls = parseProviderUrls(PROVIDER_URLS ?? '');
  const choice = await chooseFeed(FEEDS, { seed: SIMULATION_SEED, isLiveReachable: () => isLiveReachable(urls) });
  const { feed, reason } = choice.settle(null);
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

function headOf({ source, firstDay, lastDay, days, dataDigest, codeVersion }: History): string {
  return [
    `History: ${source}, ${days} days, ${firstDay} to ${lastDay}`,
    `Digest of the history: ${dataDigest}`,
    `Code: ${codeVersion}`,
  ].join('\n');
}

/** Whether a test that tells of leaks, or of being blind to them, has found any. */
function isHealthy({ report }: Computed): boolean {
  return !('healthy' in report) || report.healthy;
}
