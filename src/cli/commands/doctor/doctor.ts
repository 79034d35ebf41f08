import { openDoctor } from '../../../app/doctor/open-doctor.ts';
import { runDoctor } from '../../../app/doctor/run-doctor.ts';
import { type CommandSyntax, parseCommandLine } from '../../svc/command-line.ts';
import type { TerminalOutput } from '../../svc/context.ts';
import { createTerminalWriter } from '../../svc/text/style.ts';
import { formatDoctorReport } from './format-report.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const DOCTOR_SYNTAX: CommandSyntax = {
  name: 'npm run -s doctor --',
  summary: 'Says whether the service is ready to run, and names every fault at once',
  description: `Read-only: it writes to no database, chain or disk. With the settings of the service, beside it or before its first start. It examines
settings, secrets, wallets, chain endpoint, contracts, identity, database, clocks, market data, PUBLIC_URL, facilitator, webhooks and backup.`,
  options: [
    ['--json', 'print JSON'],
    ['--ntp <host>', 'an NTP server to compare the clock with, such as pool.ntp.org'],
  ],
  footer: 'Exits with 0 without a failure, 1 with one, 2 on a usage error. Warnings do not change it.',
};

const EXIT = { ok: 0, failed: 1 } as const;

interface DoctorValues {
  json?: boolean;
  ntp?: string;
}

/** @returns the exit code @throws UsageError */
export async function runDoctorCommand(args: readonly string[], environment: Environment, out: TerminalOutput): Promise<number> {
  const parsed = parseCommandLine<DoctorValues>(DOCTOR_SYNTAX, args, out);
  if (parsed === null) return EXIT.ok;
  const { deps, close } = await openDoctor({ environment, ntpHost: parsed.values.ntp ?? null });
  try {
    const report = await runDoctor(deps);
    const lines = () => formatDoctorReport(report, createTerminalWriter(out, { environment })).join('\n');
    out.write(`${parsed.values.json ? JSON.stringify(report, null, 2) : lines()}\n`);
    return report.counts.fail > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    await close();
  }
}
