import { createDistributionClaims, MAX_OPENINGS_PER_PAGE } from '../../audit/claims/distribution-claims.ts';
import { parseCommittedModels } from '../../verify/checks/committed-models.ts';
import { isUnread, type ServedDistributions, type Unread } from '../../verify/evidence.ts';
import { orProblem } from '../chain/record-chain.ts';
import { requestApi } from '../state/api.ts';
import type { ScorecardRow } from '../state/responses.ts';

/** By sequence number; null: the service has no such operation. */
export type ServedOpenings = ReadonlyMap<number, ServedDistributions> | Unread | null;

/** The opened distributions of the resolved ones of some rows, in as few requests as their numbers allow. */
export async function readOpenings(rows: readonly ScorecardRow[], horizonDays: number, signal: AbortSignal): Promise<ServedOpenings> {
  const sequences = rows.flatMap(({ sequence, resolutionUid }) => (resolutionUid === null ? [] : [sequence]));
  const found = sequences.length === 0 ? new Map() : await orProblem(readDown(sequences, horizonDays, signal));
  signal.throwIfAborted();
  return found;
}

async function readDown(sequences: readonly number[], horizonDays: number, signal: AbortSignal) {
  const claims = createDistributionClaims(document.baseURI.replace(/\/+$/, ''), requestApi);
  const found = new Map<number, ServedDistributions>();
  const left = new Set(sequences);
  while (left.size > 0) {
    signal.throwIfAborted();
    const [first, last] = [Math.max(...left), Math.min(...left)];
    const limit = Math.min(MAX_OPENINGS_PER_PAGE, first - last + 1);
    const page = await claims.readPage(horizonDays, { limit, before: first + 1 });
    if (page === null) return null;
    for (const served of page.data) found.set(served.sequence, served);
    const reached = page.nextCursor === null ? Number.NEGATIVE_INFINITY : Math.min(first, ...page.data.map(({ sequence }) => sequence));
    for (const sequence of left) if (sequence >= reached) left.delete(sequence);
  }
  return found;
}

/** What the service serves of a resolved row; null: it withholds what the metadata names. */
export function findServed(openings: ServedOpenings, { sequence }: ScorecardRow, metadata: Uint8Array | Unread) {
  if (isUnread(openings)) return openings;
  if (openings !== null) return openings.get(sequence) ?? null;
  const names = !isUnread(metadata) && parseCommittedModels(new TextDecoder().decode(metadata)) !== 'none';
  return names ? null : { problem: 'the service has no operation that opens distributions' };
}
