import type { Address, Hex } from 'viem';
import { type Day, formatDay } from '../../forecast/day.ts';

/** What a day's timestamp is of: public values that are on chain. */
export interface DayCommitments {
  day: Day;
  chainId: number;
  eas: Address;
  attester: Address;
  commitments: readonly { horizonDays: number; sequence: number; uid: Hex; commitment: Hex }[];
}

/** The exact text whose SHA-256 calendars stamp: canonical JSON (RFC 8785), horizons in ascending order. */
export function buildDayDocument({ day, chainId, eas, attester, commitments }: DayCommitments): string {
  const listed = [...commitments]
    .sort((a, b) => a.horizonDays - b.horizonDays)
    .map(({ horizonDays, sequence, uid, commitment }) => ({
      ...{ commitment: commitment.toLowerCase(), horizon: `${horizonDays}d`, sequence, uid: uid.toLowerCase() },
    }));
  // Members in the order of their names, as RFC 8785 has them.
  return JSON.stringify({
    ...{ attester: attester.toLowerCase(), chainId, commitments: listed, date: formatDay(day), eas: eas.toLowerCase() },
  });
}

/** The commitment that a document lists for an attestation; null when it lists none. */
export function findStampedCommitment(document: string, uid: Hex): string | null {
  try {
    const { commitments } = JSON.parse(document) as { commitments: { uid: unknown; commitment: unknown }[] };
    const found = commitments.find((one) => one.uid === uid.toLowerCase());
    return found === undefined ? null : String(found.commitment);
  } catch {
    return null;
  }
}
