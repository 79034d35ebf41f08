import { audit } from '../../../audit/audit.ts';
import type { ReadBlock } from '../../../audit/claims/check-timestamps.ts';
import { claimsOf } from '../../../audit/command/open-audit.ts';
import { createProgressLine, EXIT_CODES } from '../../../audit/command/run-audit.ts';
import type { AuditPrices } from '../../../audit/prices/audit-prices.ts';
import type { CliContext } from '../context.ts';
import { printNotice, printResult } from '../print.ts';
import type { RecordLocation } from '../record-location.ts';
import { openReadingFile } from './reading-file.ts';
import { formatConclusion } from './verification-report.ts';

interface RecordVerification {
  fromBlock: number;
  /** Null: closes are not compared. */
  prices: AuditPrices | null;
  /** Null: no Bitcoin block is read. */
  readBlock: ReadBlock | null;
  json: boolean | undefined;
}

/**
 * Checks the whole record from the chain. What was read is kept when the reading ends early, and the next call continues with it.
 * @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function verifyRecord(
  context: CliContext,
  { chain, attester, service }: RecordLocation,
  { fromBlock, prices, readBlock, json }: RecordVerification,
): Promise<number> {
  const file = await openReadingFile(context, { chain, attester, fromBlock });
  if (file.isContinued) printNotice(context, `Continues the reading that was interrupted (${file.path}).`);
  const signal = context.createInterruptSignal();
  const progress = createProgressLine(context.err);
  const { state } = file;
  try {
    const { distributions = null, timestamps = null } = service === null ? {} : claimsOf(service);
    const reading = { fromBlock, state, signal, onProgress: progress.update };
    const report = await audit({
      chain,
      attester,
      prices,
      claims: null,
      distributions,
      timestamps,
      readBlock,
      now: context.now(),
      ...reading,
    }).finally(progress.end);
    await file.remove();
    printResult(context, json, report, (writer) => formatConclusion({ ...report, words: `${report.summary}.` }, writer).slice(1));
    return EXIT_CODES[report.verdict];
  } catch (error) {
    await file.save();
    printNotice(context, `Not finished: ${state.contents.size} attestations were read. The same command continues (${file.path}).`);
    if (signal.aborted) return EXIT_CODES.incomplete;
    throw error;
  }
}
