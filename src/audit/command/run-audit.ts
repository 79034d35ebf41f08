import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Address } from 'viem';
import { getErrorMessage, isOracleError } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { type AuditOptions, audit } from '../audit.ts';
import { type CheckName, toPlainLine } from '../checks/findings.ts';
import type { AuditReport, AuditVerdict } from '../report/audit-report.ts';
import { reportText } from '../report/report-text.ts';
import { parseAddressOption, parseEndpointOption, parseNumberOption } from './option-values.ts';

/** How a run ends. */
const EXIT_CODES = { agrees: 0, differs: 1, incomplete: 3 } as const satisfies Record<AuditVerdict, number>;
/** It was not called as it should be, or something does not answer. */
const EXIT_NOT_RUN = 2;

export const OPTIONS_TEXT = `  --rpc <url>              JSON-RPC endpoint of the chain
  --attester <address>     wallet whose record it is
  --eas <address>          default: 0x4200..0021, where Base and other OP chains have it
  --schema-registry <address>
  --from-block <number>    first block that is read; default 0. From a later one the record is whole only if the wallet had sent nothing
                           before, which the endpoint must be able to tell
  --service <url>          also compare what a service claims: rows and figures of its scorecards
  --prices <file | live>   CSV file with the columns date and close (USD, at 00:00 UTC of the next day), or the median of public
                           exchanges
  --tolerance-bps <number> how far closes on chain may be from these; 0 is equal to the cent
  --json                   for programs

Ends with 0 only when everything agrees, 1 when something differs, 3 when nothing is wrong and something could not be checked (prices that
are missing, returns near zero that have the other sign by these prices, blocks that were left out, nothing to audit), 2 when it was not
called as it should be or something does not answer.
`;

/** The words of a call, checked. */
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
  json: boolean;
}

const OPTION_TYPES = {
  rpc: { type: 'string' },
  attester: { type: 'string' },
  eas: { type: 'string' },
  'schema-registry': { type: 'string' },
  'from-block': { type: 'string' },
  service: { type: 'string' },
  prices: { type: 'string' },
  'tolerance-bps': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** @throws Misuse naming the word that is wrong. */
export function parseAuditCommand(args: string[]): AuditCommand {
  const values = parseAuditOptions(args);
  return {
    rpc: parseEndpointOption('--rpc', values.rpc),
    attester: parseAddressOption('--attester', values.attester),
    eas: parseAddressOption('--eas', values.eas),
    schemaRegistry: parseAddressOption('--schema-registry', values['schema-registry']),
    fromBlock: parseNumberOption('--from-block', values['from-block'], 1e12),
    service: parseEndpointOption('--service', values.service),
    prices: values.prices,
    toleranceBps: parseNumberOption('--tolerance-bps', values['tolerance-bps'], 10_000),
    json: values.json ?? false,
  };
}

function parseAuditOptions(args: string[]) {
  try {
    return parseArgs({ args: args, options: OPTION_TYPES }).values;
  } catch (error) {
    throw new UsageError('arguments', getErrorMessage(error));
  }
}

export interface AuditOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

export interface AuditRun {
  /** What the parsed call comes to. */
  open(command: AuditCommand): Promise<AuditOptions>;
  out: AuditOutput;
  err: AuditOutput;
}

/** An audit as it was called for: parses, runs, prints, and explains what went wrong. @returns the exit code */
export async function runAudit(args: string[], { open, out, err }: AuditRun): Promise<number> {
  try {
    const command = parseAuditCommand(args);
    return await printAudit(() => open(command), { json: command.json, out, err });
  } catch (error) {
    return printAuditFailure(error, err);
  }
}

/** Runs an audit and prints it. @returns the exit code. @throws OracleError as `audit` */
async function printAudit(
  open: () => Promise<AuditOptions>,
  { json, out, err }: { json: boolean; out: AuditOutput; err: AuditOutput },
): Promise<number> {
  const progress = createProgressLine(err);
  const report = await auditUntilSettled(async () => {
    const options = await open();
    return audit({ ...options, onProgress: progress.update });
  });
  progress.end();
  out.write(json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  return EXIT_CODES[report.verdict];
}

/** Looks of a service that is at work while it is audited. */
const MAX_RUNS = 4;
const BETWEEN_RUNS_MS = 10_000;
/** What stands on chain for longer than this the service knows. */
const CLAIM_GRACE_MS = 300_000;

const CLAIM_CHECKS: readonly CheckName[] = ['shown', 'row', 'figure'];

/** What a service has put on chain just now it may not show yet: then it is looked at again. */
async function auditUntilSettled(runOnce: () => Promise<AuditReport>): Promise<AuditReport> {
  for (let left = MAX_RUNS - 1; ; left--) {
    const report = await runOnce();
    if (left === 0 || !mayBeInProgress(report)) return report;
    await delay(BETWEEN_RUNS_MS);
  }
}

/** Whether all that differs may be a matter of moments. */
export function mayBeInProgress({ differences, newestAttestationAt, auditedAt }: AuditReport): boolean {
  if (differences.length === 0 || newestAttestationAt === null) return false;
  const isFresh = Date.parse(auditedAt) - Date.parse(newestAttestationAt) < CLAIM_GRACE_MS;
  return isFresh && differences.every(({ check }) => CLAIM_CHECKS.includes(check));
}

/** On a terminal, one line that is written over. */
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

/** Says what went wrong, and what to do. @returns the exit code: 1 would say that something differs */
export function printAuditFailure(error: unknown, err: AuditOutput): number {
  const lines = isOracleError(error) ? [`${error.code}: ${error.message}`, error.suggestedAction ?? ''] : formatUnexpectedError(error);
  const printed = lines.map(toPlainLine).filter((line) => line.trim() !== '');
  err.write(`${printed.join('\n')}\n`);
  return EXIT_NOT_RUN;
}

const MAX_TRACE_LINES = 15;

/** A fault of the audit, and where it happened; an endpoint's URL may hold an access key. */
function formatUnexpectedError(error: unknown): string[] {
  const text = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const lines = text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>').split('\n');
  return ['The audit failed, which says nothing of the record:', ...lines.slice(0, MAX_TRACE_LINES)];
}
