import { parseArgs } from 'node:util';
import { RUNNING_COSTS } from './costs/running-costs.ts';
import { API_UNDER_SELF_TESTS, WALK_FORWARD } from './forecast.ts';
import { GROWTH } from './growth/growth.ts';
import { HOSTILE } from './hostile.ts';
import { HTTP_SIGNAL } from './http/signal.ts';
import { INSTALL } from './install/install.ts';
import { type Benchmark, type BenchOptions, machine, reportOf } from './lib.ts';
import { MCP_ANSWERS } from './mcp-answers.ts';
import { MIXED } from './mixed/mixed.ts';
import { PAGE } from './page.ts';
import { PAID } from './paid/paid.ts';
import { COMMAND_LINE, MEMORY, PROCESSES, REPLAY, START } from './process.ts';
import { SIZING } from './sizing.ts';
import { TRACE } from './trace/trace.ts';
import { WEBSOCKET_BROADCAST } from './websocket/broadcast.ts';

const BENCHMARKS: readonly Benchmark[] = [
  WEBSOCKET_BROADCAST,
  HTTP_SIGNAL,
  PAGE,
  WALK_FORWARD,
  API_UNDER_SELF_TESTS,
  RUNNING_COSTS,
  INSTALL,
  START,
  COMMAND_LINE,
  REPLAY,
  MEMORY,
  GROWTH,
  MIXED,
  PROCESSES,
  HOSTILE,
  PAID,
  MCP_ANSWERS,
  TRACE,
  SIZING,
];

const USAGE = `Usage: npm run bench -- [name...] [--clients <n>] [--rounds <n>] [--days <n>] [--api <n>] [--workers <n>] [--data <folder of CSV files>]

Figures, most of them against a baseline that is measured in the same run, for about fifteen minutes; all of them unless named:
${BENCHMARKS.map(({ name, what }) => `  ${name}: ${what}`).join('\n')}
`;

/** Measures, and ends with 0 also when a figure misses its goal: it says so. */
export async function main(words: readonly string[]): Promise<void> {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(USAGE);
    return;
  }
  const asked = parse(words);
  if (asked === null) process.exit(2);
  print(machine());
  for (const { name, what, run } of asked.benchmarks) {
    print(`\n${name}: ${what}`);
    const comparisons = await run({ ...asked.options, report: print });
    for (const comparison of comparisons) reportOf(comparison).forEach(print);
  }
}

interface Asked {
  benchmarks: readonly Benchmark[];
  options: Omit<BenchOptions, 'report'>;
}

/** Null, with the usage printed, for unknown arguments. */
function parse(words: readonly string[]): Asked | null {
  try {
    const text = { type: 'string' } as const;
    const options = { clients: text, days: text, api: text, workers: text, data: text, rounds: { ...text, default: '7' } };
    const { values, positionals } = parseArgs({ args: [...words], allowPositionals: true, options });
    const unknown = positionals.filter((name) => BENCHMARKS.every((one) => one.name !== name));
    if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(', ')}`);
    const benchmarks = BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    const { clients, days, api, workers, rounds, data } = values;
    const counts = {
      clients: countOf('clients', clients),
      days: countOf('days', days),
      api: countOf('api', api),
      workers: countOf('workers', workers),
      rounds: countOf('rounds', rounds)!,
    };
    return { benchmarks, options: { ...counts, data } };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return null;
  }
}

function countOf(name: string, text?: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1 on`);
  return value;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
