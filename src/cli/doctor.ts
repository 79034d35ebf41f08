import { isOracleError } from '../errors.ts';
import { type Level, openDoctor } from '../ops/checks.ts';
import { type DoctorReport, runDoctor } from '../ops/doctor.ts';
import { failWith } from './script.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';
import { type DoctorValues, doctorCommand } from './svc/commands/doctor.ts';
import type { TerminalOutput } from './svc/context.ts';
import { createTerminalWriter, type Style, type TerminalWriter } from './svc/text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const DOCTOR_SYNTAX: CommandSyntax = {
  name: 'npm run -s doctor --',
  example: 'npm run -s doctor -- --ntp pool.ntp.org',
  summary: 'Says whether the service is ready to run, and names every fault at once',
  description: `Read-only: it writes to no database, chain or disk. With the settings of the service, beside it or before its first start. It examines
settings, secrets, wallets, chain endpoint, contracts, identity, database, clocks, market data, PUBLIC_URL, facilitator, webhooks and backup.`,
  options: doctorCommand.options,
  footer: 'Exits with 0 without a failure, 1 with one, 2 on a usage error. Warnings do not change it.',
};

const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** @returns the exit code @throws UsageError */
export async function runDoctorCommand(args: readonly string[], environment: Environment, out: TerminalOutput): Promise<number> {
  const parsed = parseCommandLine<DoctorValues>(DOCTOR_SYNTAX, args, out);
  if (parsed === null) return EXIT.ok;
  const { deps, close } = await openDoctor(environment, parsed.values.ntp ?? null);
  try {
    const report = await runDoctor(deps);
    const lines = () => formatDoctorReport(report, createTerminalWriter(out, { environment })).join('\n');
    out.write(`${parsed.values.json ? JSON.stringify(report, null, 2) : lines()}\n`);
    return report.counts.fail > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    await close();
  }
}

const STYLES: Record<Level, Style> = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' };
const LEVEL_WIDTH = 8;
const TITLE_WIDTH = 20;

/** The causes with what to do, then what is well or was not examined, and the counts. */
function formatDoctorReport({ chainMode, causes, checks, counts }: DoctorReport, { paint }: Pick<TerminalWriter, 'paint'>): string[] {
  const line = (level: Level, title: string, detail: string) =>
    `${paint(STYLES[level], level.padEnd(LEVEL_WIDTH))}${title.padEnd(TITLE_WIDTH)}${detail}`;
  const indent = ' '.repeat(LEVEL_WIDTH + TITLE_WIDTH);
  const wrong = causes.flatMap(({ level, title, detail, action, isPermanent, concerns }) => [
    line(level, title, `${detail}${isPermanent ? ' (cannot be repaired once the record has begun)' : ''}`),
    ...(concerns.length === 0 ? [] : [`${indent}   concerns: ${concerns.join(', ')}`]),
    ...(action === null ? [] : [`${indent}-> ${action}`]),
  ]);
  const concerned = causes.flatMap(({ concerns }) => concerns);
  const others = checks.flatMap(({ title, findings }) =>
    findings
      .filter(({ level }) => level === 'ok' || (level === 'skipped' && !concerned.includes(title)))
      .map(({ level, detail }, index) => line(level, index === 0 ? title : '', detail)),
  );
  const { ok, warn, fail, skipped } = counts;
  const kind = chainMode === 'real' ? [] : ['This is a demonstration on a local chain. docs/OPERATE.md says what a real deployment needs.'];
  return [...wrong, ...others, '', ...kind, `${ok} ok, ${warn} warnings, ${fail} failures, ${skipped} skipped`];
}

/** `npm run doctor`, and `node bin/start.mjs --check`. Sets the exit code of the process. */
export async function runDoctorProgram(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  try {
    process.exitCode = await runDoctorCommand(args, environment, process.stdout);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    failWith(error, EXIT.usage);
  }
}
