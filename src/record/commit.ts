import { type Hex, zeroHash } from 'viem';
import { type CommitmentOpening, commitmentOf, saltFor } from '../chain/commitment.ts';
import type { CommittedValues, ForecastDoc } from './forecast.ts';

/** Salt and values that open a forecast's commitment. The salt derives from the master secret, so that it outlives the database. */
export function openingOf(saltSecret: string, id: string, values: CommittedValues): CommitmentOpening {
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
  return { salt: saltFor(saltSecret, id), signal, direction, confidenceBps, pUpBps, btcPriceCents };
}

/** The commitment of a forecast; zero for a day on which nothing was forecast. */
export function commitmentFor(saltSecret: string, id: string, values: CommittedValues | null): Hex {
  return values === null ? zeroHash : commitmentOf(openingOf(saltSecret, id, values));
}

/** Opening of a stored forecast; null for a day on which nothing was forecast. */
export function openingOfDoc(saltSecret: string, doc: ForecastDoc): CommitmentOpening | null {
  return doc.values === null ? null : openingOf(saltSecret, doc._id, doc.values);
}
