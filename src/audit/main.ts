import { explainFailure, NOT_RUN, OPTIONS_TEXT, parseAuditCommand, printAudit } from './command.ts';
import { openByAddress } from './open.ts';

const USAGE = `Usage: bitcoin-signal-oracle-audit --rpc <url> --attester <address> [options]

Recomputes the record of a forecaster from its attestations on chain and from independent prices, and prints every difference. It
reads only: no key, no account, and nothing that the service says is believed.

${OPTIONS_TEXT}`;

/** The audit as a program of its own: what the package starts. */
export async function main(words: string[]): Promise<void> {
  if (words.length === 0 || words.includes('--help')) {
    process.stdout.write(USAGE);
    process.exitCode = words.length === 0 ? NOT_RUN : 0;
    return;
  }
  try {
    const command = parseAuditCommand(words);
    const open = () => openByAddress(command, new Date());
    process.exitCode = await printAudit(open, { json: command.json, out: process.stdout, err: process.stderr });
  } catch (error) {
    process.exitCode = explainFailure(error, process.stderr);
  }
}
