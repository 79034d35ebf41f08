import type { Address } from 'viem';
import { type AuditOptions, audit, auditUntilSettled } from '../audit.ts';
import type { AuditReport } from '../report/audit-report.ts';
import { formatReportJson, reportText } from '../report/report-text.ts';
import { parseAddressOption, parseEndpointOption, parseNumberOption } from './option-values.ts';

export const EXIT_CODES = { agrees: 0, differs: 1, incomplete: 3 } as const satisfies Record<AuditReport['verdict'], number>;

/** Flags in commander's notation, description and parser. */
export const AUDIT_OPTIONS = [
  ['--rpc <url>', 'JSON-RPC endpoint of the chain', parseEndpointOption],
  ['--attester <address>', 'wallet of the record', parseAddressOption],
  ['--eas <address>', 'default: 0x4200..0021, the address on Base and other OP chains', parseAddressOption],
  ['--schema-registry <address>', 'default: 0x4200..0020', parseAddressOption],
  [
    '--from-block <number>',
    'first block to read (default: 0); with a later one the record is complete only if the wallet had sent nothing before it, which requires an endpoint with that state',
    parseNumberOption(1e12),
  ],
  ['--service <url>', "also compare the rows and figures of a service's scorecards", parseEndpointOption],
  [
    '--prices <file | live>',
    'CSV file with the columns date and close (USD, at 00:00 UTC of the next day), or the median of public exchanges',
  ],
  [
    '--tolerance-bps <number>',
    'maximum distance of closes on chain from these prices; 0 means equal to the cent',
    parseNumberOption(10_000),
  ],
  ['--json', 'print the report as JSON'],
] as const;

export const EXIT_CODES_TEXT = `Exit codes: 0 everything agrees; 1 something differs; 2 usage error or unreachable endpoint; 3 nothing differs, but something could not be
checked (missing prices, returns near zero with the other sign by these prices, skipped blocks, nothing to audit).`;

/** Parsed command-line options. */
export interface AuditCommand {
  rpc?: string;
  attester?: Address;
  eas?: Address;
  schemaRegistry?: Address;
  fromBlock?: number;
  service?: string;
  /** A path, or `live`. */
  prices?: string;
  toleranceBps?: number;
  json?: boolean;
}

export interface AuditOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Opens chain, prices and claims. */
export type OpenAudit = (command: AuditCommand) => Promise<AuditOptions>;

/** Runs the audit and prints the report. @returns the exit code @throws the errors of `open` and `audit` */
export async function runAudit(command: AuditCommand, open: OpenAudit, { out, err }: Record<'out' | 'err', AuditOutput>): Promise<number> {
  const progress = createProgressLine(err);
  const runOnce = async () => audit({ ...(await open(command)), onProgress: progress.update });
  const report = await auditUntilSettled(runOnce).finally(progress.end);
  out.write(command.json ? formatReportJson(report) : reportText(report));
  return EXIT_CODES[report.verdict];
}

/** Progress on a terminal, in one line that is overwritten. */
export function createProgressLine(output: AuditOutput) {
  return {
    update(stage: string, done: number, total: number) {
      if (output.isTTY) output.write(`\r${stage}: ${done} of ${total}\x1b[K`);
    },
    end() {
      if (output.isTTY) output.write('\r\x1b[K');
    },
  };
}
