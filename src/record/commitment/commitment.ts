import { type Hex, zeroHash } from 'viem';
import { type CommitmentOpening, computeCommitment } from '../../chain/eas/commitment.ts';
import { deriveSalt } from '../../chain/eas/salt.ts';
import type { CommittedValues, ForecastDoc } from '../forecast-doc.ts';

/** Opening of a commitment. The salt is derived from the master secret, so that it survives the loss of the database. */
export function buildOpening(saltSecret: string, id: string, values: CommittedValues): CommitmentOpening {
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
  return { salt: deriveSalt(saltSecret, id), signal, direction, confidenceBps, pUpBps, btcPriceCents };
}

export function computeForecastCommitment(saltSecret: string, id: string, values: CommittedValues | null): Hex {
  return values === null ? zeroHash : computeCommitment(buildOpening(saltSecret, id, values));
}

export function findOpening(saltSecret: string, doc: ForecastDoc): CommitmentOpening | null {
  return doc.values === null ? null : buildOpening(saltSecret, doc._id, doc.values);
}
