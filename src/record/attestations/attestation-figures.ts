import type { ConfirmedAttestation } from '../../chain/eas/attester.ts';
import type { ForecastDoc } from '../forecast-doc.ts';

/** Fields of a forecast that `computeAttestationFigures` reads. */
export const ATTESTED_FIELDS = { horizonDays: 1, attestation: 1, reveal: 1 } as const;

export type AttestedForecast = Pick<ForecastDoc, keyof typeof ATTESTED_FIELDS>;

interface HorizonCounts {
  horizonDays: number;
  predictions: number;
  resolutions: number;
  firstAt: Date | null;
  latestAt: Date | null;
}

/** Attestations by horizon, and their cost by the set of horizons that a transaction carries, so that a transaction counts once. */
export interface AttestationFigures {
  byHorizon: HorizonCounts[];
  costs: { horizons: number[]; wei: string }[];
}

export function computeAttestationFigures(docs: readonly AttestedForecast[]): AttestationFigures {
  const found = docs.flatMap(({ horizonDays, attestation, reveal }) =>
    [attestation, reveal].flatMap((one) => (one === null ? [] : [{ horizonDays, one }])),
  );
  const horizonsOf = new Map<string, Set<number>>();
  for (const { horizonDays, one } of found) horizonsOf.set(one.txHash, (horizonsOf.get(one.txHash) ?? new Set()).add(horizonDays));
  const toKey = (txHash: string) => [...horizonsOf.get(txHash)!].toSorted((a, b) => a - b).join();
  return {
    byHorizon: [...Map.groupBy(docs, ({ horizonDays }) => horizonDays)].map(([horizonDays, of]) => countAttestations(horizonDays, of)),
    costs: [...Map.groupBy(found, ({ one }) => toKey(one.txHash))].map(([key, members]) => ({
      horizons: key.split(',').map(Number),
      wei: String(sumCostWei(members.map(({ one }) => one))),
    })),
  };
}

function countAttestations(horizonDays: number, docs: readonly AttestedForecast[]): HorizonCounts {
  const predictions = docs.flatMap(({ attestation }) => attestation ?? []);
  const resolutions = docs.flatMap(({ reveal }) => reveal ?? []);
  const times = [...predictions, ...resolutions].map(({ at }) => at.getTime());
  const pick = (choose: (a: number, b: number) => number) => (times.length === 0 ? null : new Date(times.reduce(choose)));
  return {
    ...{ horizonDays, predictions: predictions.length, resolutions: resolutions.length },
    firstAt: pick((a, b) => Math.min(a, b)),
    latestAt: pick((a, b) => Math.max(a, b)),
  };
}

/** Cost in wei: gas, and the data fee of a rollup. A transaction that carries several attestations counts once. */
export function sumCostWei(references: readonly ConfirmedAttestation[]): bigint {
  const byTransaction = new Map(references.map((reference) => [reference.txHash, reference]));
  return [...byTransaction.values()].reduce(
    (sum, { gasUsed, effectiveGasPriceWei, l1FeeWei = '0' }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPriceWei) + BigInt(l1FeeWei),
    0n,
  );
}

/** The figures of some horizons; times are ISO 8601. */
export function summarizeAttestations({ byHorizon, costs }: AttestationFigures, horizons: readonly number[]) {
  const chosen = byHorizon.filter(({ horizonDays }) => horizons.includes(horizonDays));
  const times = chosen.flatMap(({ firstAt, latestAt }) => [firstAt, latestAt]).flatMap((at) => at?.getTime() ?? []);
  return {
    predictions: chosen.reduce((sum, { predictions }) => sum + predictions, 0),
    resolutions: chosen.reduce((sum, { resolutions }) => sum + resolutions, 0),
    firstAttestation: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
    latestAttestation: times.length === 0 ? null : new Date(Math.max(...times)).toISOString(),
    totalGasWei: costs
      .filter((cost) => cost.horizons.some((horizonDays) => horizons.includes(horizonDays)))
      .reduce((sum, { wei }) => sum + BigInt(wei), 0n),
  };
}
