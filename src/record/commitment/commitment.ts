import { type Hex, zeroHash } from 'viem';
import { type CommitmentOpening, computeCommitment, deriveSalt } from '../../chain/eas/commitment.ts';
import type { CommittedValues, ForecastDoc } from '../forecast-doc.ts';

/** Salt and values that open a forecast's commitment. The salt derives from the master secret, so that it outlives the database. */
export function buildOpening(saltSecret: string, id: string, values: CommittedValues): CommitmentOpening {
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
  return { salt: deriveSalt(saltSecret, id), signal, direction, confidenceBps, pUpBps, btcPriceCents };
}

/** The commitment of a forecast; zero for a day on which nothing was forecast. */
export function computeForecastCommitment(saltSecret: string, id: string, values: CommittedValues | null): Hex {
  return values === null ? zeroHash : computeCommitment(buildOpening(saltSecret, id, values));
}

/** Opening of a stored forecast; null for a day on which nothing was forecast. */
export function findOpening(saltSecret: string, doc: ForecastDoc): CommitmentOpening | null {
  return doc.values === null ? null : buildOpening(saltSecret, doc._id, doc.values);
}
