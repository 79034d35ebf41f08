import { z } from 'zod';
import type { Caller } from '../../../../auth/caller.ts';
import { parseHorizonDays } from '../../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../../forecast/model.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { summarizeAttestations } from '../../../../record/attestations/attestation-figures.ts';
import { findLatestAttestation, listAttestations } from '../../../../record/attestations/history.ts';
import {
  ATTESTATION_HISTORY,
  ATTESTATION_STATS,
  type AttestationHistory,
  type AttestationStatsReply,
  LATEST_ATTESTATION,
  type LatestAttestation,
  VERIFICATION,
} from '../../../../record/schemas/attestations.ts';
import type { RecordCheckDeps } from '../../../../record/verification/forecast-evidence.ts';
import { verifyAttestation } from '../../../../record/verification/verify-attestation.ts';
import type { HttpDeps } from '../../deps.ts';
import { HORIZON_PARAMETERS, selectHorizons } from '../../server/parsing/horizon-parameters.ts';
import { attestationUidInput, limitInput, PAGE_LIMITS } from '../../server/parsing/parameters.ts';
import { buildNextPageHeaders } from '../../server/replies/link-header.ts';
import { type Reply, type Route, route } from '../../server/route.ts';

type AttestationDeps = RecordCheckDeps & Pick<HttpDeps, 'publicUrl' | 'statistics'>;

const HISTORY_PATH = '/api/svc/onchain-oracle/history';

const HISTORY_QUERY = z.object({
  limit: limitInput(PAGE_LIMITS.attestations.most, PAGE_LIMITS.attestations.default),
  before: attestationUidInput.optional().describe('Only attestations before this one in list order: `nextCursor` of the previous page'),
  ...HORIZON_PARAMETERS,
  compat: z
    .enum(['0', '1'], { error: 'must be 1 or 0' })
    .default('0')
    .describe('1: repeats the list as `attestations`, the other name of `data` in the interface'),
});

/** Interface, section 2.5. */
export function attestationRoutes(deps: AttestationDeps): Route[] {
  return [
    route('GET /api/svc/onchain-oracle/latest', 'getLatestAttestation', {
      tag: 'record',
      reply: LATEST_ATTESTATION,
      summary: 'The newest prediction attestation, of 7 days unless other horizons are named',
      query: z.object(HORIZON_PARAMETERS),
      errors: ['NOT_FOUND'],
      sharedByTier: true,
      variesByCaller: true,
      handle: ({ query, caller }) => readLatestAttestation(deps, selectHorizons(query), caller),
    }),
    route(`GET ${HISTORY_PATH}`, 'listAttestations', {
      units: 0.3,
      tag: 'record',
      reply: ATTESTATION_HISTORY,
      summary: 'Prediction and resolution attestations, newest first, of 7 days unless other horizons are named',
      description:
        'One prediction per day and its resolution; `horizons=all` adds 1, 2 and 3 days. To read the whole record, send `nextCursor`, ' +
        'also in the header `Link` (RFC 8288), as `before` until it is null. Attestations of one block have a fixed order.',
      query: HISTORY_QUERY,
      sharedByTier: true,
      variesByCaller: true,
      handle: ({ query, caller }) => readAttestationHistory(deps, query, caller),
    }),
    route('GET /api/svc/onchain-oracle/verify/{uid}', 'verifyAttestation', {
      tag: 'record',
      cost: 'rpc',
      reply: VERIFICATION,
      errors: ['NOT_FOUND'],
      summary: 'An attestation on chain, compared with the record field by field',
      params: z.object({ uid: attestationUidInput }),
      variesByCaller: true,
      handle: async ({ params, caller }) => ({ body: await verifyAttestation(deps, params.uid, caller) }),
    }),
    route('GET /api/svc/onchain-oracle/stats', 'getAttestationStats', {
      units: 0.1,
      tag: 'record',
      reply: ATTESTATION_STATS,
      summary: 'Number, period and cost of attestations, of 7 days unless other horizons are named',
      description: 'To compare the counts with the chain, which has all horizons, send `horizons=all`.',
      query: z.object(HORIZON_PARAMETERS),
      handle: ({ query }) => readAttestationStats(deps, selectHorizons(query)),
    }),
  ];
}

async function readLatestAttestation(deps: AttestationDeps, horizons: HorizonName[], caller: Caller): Promise<Reply<LatestAttestation>> {
  const data = await findLatestAttestation(deps.record, horizons.map(parseHorizonDays), deps.viewFor(caller));
  if (data === null) throw new OracleError('NOT_FOUND', 'Nothing is attested yet');
  return { body: { success: true, data } };
}

async function readAttestationHistory(
  deps: AttestationDeps,
  query: z.output<typeof HISTORY_QUERY>,
  caller: Caller,
): Promise<Reply<AttestationHistory>> {
  const { limit, before = null, compat } = query;
  const horizons = selectHorizons(query);
  const wanted = { horizons: horizons.map(parseHorizonDays), limit, before };
  const { attestations: data, total, nextBefore } = await listAttestations(deps, wanted, deps.viewFor(caller));
  const alias = compat === '1' ? { attestations: data } : {};
  const next =
    nextBefore === null ? null : { limit, horizons: horizons.join(','), ...(compat === '1' ? { compat } : {}), before: nextBefore };
  return {
    headers: buildNextPageHeaders(deps.publicUrl, HISTORY_PATH, next),
    body: { success: true, data, ...alias, count: data.length, total, horizons, nextCursor: nextBefore },
  };
}

async function readAttestationStats(deps: AttestationDeps, horizons: HorizonName[]): Promise<Reply<AttestationStatsReply>> {
  const counted = summarizeAttestations(await deps.statistics.figures.getAttestations(), horizons.map(parseHorizonDays));
  const { predictions, resolutions, firstAttestation, latestAttestation, totalGasWei } = counted;
  return {
    body: {
      success: true,
      data: { totalPublished: predictions, totalResolved: resolutions, totalGasWei: totalGasWei.toString() },
      horizons,
      totalAttestations: predictions + resolutions,
      predictions,
      resolutions,
      firstAttestation,
      latestAttestation,
      chain: `eip155:${deps.chainId}`,
      attester: deps.attesterAddress,
    },
  };
}
