import type { Address } from 'viem';
import { getErrorMessage, isOracleError } from '../../platform/errors.ts';
import { toPlainLine } from '../../verify/plain-line.ts';
import { type AuditOptions, audit, auditUntilSettled } from '../audit.ts';
import type { AuditVerdict } from '../report/audit-report.ts';
import { formatReportJson, reportText } from '../report/report-text.ts';
import { parseAddressOption, parseEndpointOption, parseNumberOption } from './option-values.ts';

const EXIT_CODES = { agrees: 0, differs: 1, incomplete: 3 } as const satisfies Record<AuditVerdict, number>;
/** Usage error, or an unreachable endpoint. */
const EXIT_NOT_RUN = 2;

/** Flags in commander's notation, description and parser. */
export const AUDIT_OPTIONS = [
  ['--rpc <url>', 'JSON-RPC endpoint of the chain', parseEndpointOption],
  ['--attester <address>', 'wallet of the record', parseAddressOption],
  ['--eas <address>', 'default: 0x4200..0021, the address on Base and other OP chains', parseAddressOption],
  ['--schema-registry <address>', 'default: 0x4200..0020', parseAddressOption],
  [
    '--from-block <number>',
    'first block to read (default: 0); with a later one the record is complete only if the wallet had sent nothing before it, which requires an endpoint with that state',
    (name: string, text: string) => parseNumberOption(name, text, 1e12),
  ],
  ['--service <url>', "also compare the rows and figures of a service's scorecards", parseEndpointOption],
  [
    '--prices <file | live>',
    'CSV file with the columns date and close (USD, at 00:00 UTC of the next day), or the median of public exchanges',
  ],
  [
    '--tolerance-bps <number>',
    'maximum distance of closes on chain from these prices; 0 means equal to the cent',
    (name: string, text: string) => parseNumberOption(name, text, 10_000),
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

interface AuditRun {
  /** Opens chain, prices and claims of the options. */
  open(command: AuditCommand): Promise<AuditOptions>;
  out: AuditOutput;
  err: AuditOutput;
}

/** Runs the audit and prints the report or the failure. @returns the exit code */
export async function runAudit(command: AuditCommand, { open, out, err }: AuditRun): Promise<number> {
  try {
    const progress = createProgressLine(err);
    const report = await auditUntilSettled(async () => audit({ ...(await open(command)), onProgress: progress.update }));
    progress.end();
    out.write(command.json ? formatReportJson(report) : reportText(report));
    return EXIT_CODES[report.verdict];
  } catch (error) {
    return printAuditFailure(error, err);
  }
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

/** Prints an error with its suggested action. @returns exit code 2, since 1 means that something differs */
export function printAuditFailure(error: unknown, err: AuditOutput): number {
  const lines = isOracleError(error) ? [`${error.code}: ${error.message}`, error.suggestedAction ?? ''] : formatUnexpectedError(error);
  const printed = lines.map(toPlainLine).filter((line) => line.trim() !== '');
  err.write(`${printed.join('\n')}\n`);
  return EXIT_NOT_RUN;
}

const MAX_TRACE_LINES = 15;

/** A bug of the audit with its stack trace. URLs are redacted, because they may contain an API key. */
function formatUnexpectedError(error: unknown): string[] {
  const text = (error instanceof Error ? error.stack : undefined) ?? getErrorMessage(error);
  const lines = text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>').split('\n');
  return ['The audit itself failed; this is no result about the record:', ...lines.slice(0, MAX_TRACE_LINES)];
}
