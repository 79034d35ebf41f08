import { z } from 'zod';
import { readAttestationStats, readAttestations, readLatestAttestation } from '../../../skills/get-track-record.ts';
import { readVerification } from '../../../skills/verify-prediction.ts';
import { OracleError } from '../../errors.ts';
import { HORIZON_NAMES, parseHorizonDays } from '../../forecast/horizon-input.ts';
import { MODEL_NAMES } from '../../forecast/models.ts';
import { SERIES_ID } from '../../market/reports/report.ts';
import { BYTES32, COUNT, DATE, listOf, TIME } from '../../platform/validation.ts';
import { MOVE, MOVE_LIMITS, REGIME } from '../../record/schemas/forecast.ts';
import { ATTESTATION_HISTORY, ATTESTATION_STATS, LATEST_ATTESTATION, VERIFICATION } from '../../record/schemas/verification.ts';
import { HORIZON_PARAMETERS, limitInput, PAGE_LIMITS, selectHorizons } from '../parameters.ts';
import { buildNextPageHeaders } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

/** Public metadata of a forecast, by the CID that its on-chain digest determines. */
export function metadataRoutes({ record }: Services): Route[] {
  return [
    route('GET /ipfs/{cid}', 'getMetadata', {
      units: 0.1,
      tag: 'record',
      reply: METADATA,
      errors: ['NOT_FOUND'],
      summary: 'Exact bytes behind the metadata digest of an attestation',
      params: z.object({
        cid: z
          .string()
          .regex(/^b[a-z2-7]{20,120}$/, 'must be a CIDv1 in base32')
          .describe('CIDv1 of the metadata, in base32'),
      }),
      async handle({ params: { cid } }) {
        const known = record.known.listDays().find(({ metadata }) => metadata.cid === cid);
        const day = known === undefined ? null : await record.findDay(known.day);
        if (day === null) throw new OracleError('NOT_FOUND', `No metadata with CID ${cid}`, { field: 'cid' });
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=31536000, immutable' };
        return { headers, raw: day.metadata.json };
      },
    }),
  ];
}

const MODEL = z.object({
  name: z.enum(MODEL_NAMES).describe('Name of the model version'),
  role: z
    .enum(['champion', 'challenger'])
    .describe('`champion`: the service forecasts by it; `challenger`: it is compared with the champion'),
  modelVersion: z.string().nullable().describe('Its fit; null without a forecast of the day'),
  missingBecause: z.string().optional().describe('Why it has no forecast'),
  distributions: z
    .object(Object.fromEntries(HORIZON_NAMES.map((name) => [name, BYTES32.describe(`Over ${name}`)])))
    .nullable()
    .describe('Salted digest of its predictive distribution by horizon, opened when the horizon is resolved'),
});

const FORECAST = z.object({
  date: DATE.describe('Day of the forecasts'),
  modelVersion: z.string().describe('Model version'),
  modelDigest: BYTES32.describe('Digest of all data available to the model'),
  trials: COUNT.describe('Model variants tried before this one'),
  regime: REGIME.describe('Market regime'),
  inputsDigest: BYTES32.describe('Attested digest of the inputs'),
  rangesDigest: BYTES32.optional().describe('Digest of the daily highs and lows'),
  models: z.array(MODEL).optional().describe('Model versions that forecast the day, the champion first'),
  moves: z
    .record(z.string(), z.object({ ...MOVE, ...MOVE_LIMITS.unwrap().shape }).nullable())
    .optional()
    .describe('Size of the move by horizon; null where the history is too short'),
  feed: z.string().describe('Market data source'),
  inputs: listOf('Sources and times of all inputs, without values', {
    series: SERIES_ID.describe('Series'),
    source: z.string().describe('Source'),
    observedDay: DATE.nullable().describe('Date of the newest observation used; null for a series left out'),
    availableAt: TIME.nullable().describe('When that observation became available; null for a series left out'),
  }),
});

const MISSED = z.object({
  date: DATE.describe('Day of the forecasts'),
  missed: z.literal(true).describe('Nothing was forecast before the window opened'),
  reason: z.string().describe('Why'),
});

/** Canonical JSON (RFC 8785), whose sha2-256 is attested. */
const METADATA = z.union([FORECAST.describe('Day with forecasts'), MISSED.describe('Missed day')]).meta({ id: 'Metadata' });

const HISTORY_PATH = '/api/svc/onchain-oracle/history';

const attestationUidInput = z
  .string()
  .regex(/^0x[a-fA-F0-9]{64}$/, 'must be 0x followed by 64 hex characters')
  .transform((text) => text.toLowerCase() as `0x${string}`)
  .describe('Attestation UID: 0x and 64 hex characters');

/** Interface, section 2.5. */
export function attestationRoutes(deps: Services): Route[] {
  return [
    route('GET /api/svc/onchain-oracle/latest', 'getLatestAttestation', {
      tag: 'record',
      reply: LATEST_ATTESTATION,
      summary: 'The newest prediction attestation, of 7 days unless other horizons are named',
      query: z.object(HORIZON_PARAMETERS),
      errors: ['NOT_FOUND'],
      shared: 'state',
      variesByCaller: true,
      async handle({ query, caller }) {
        const data = await readLatestAttestation(selectHorizons(query).map(parseHorizonDays), deps, caller);
        if (data === null) throw new OracleError('NOT_FOUND', 'Nothing is attested yet');
        return { body: { success: true as const, data } };
      },
    }),
    route(`GET ${HISTORY_PATH}`, 'listAttestations', {
      units: 0.3,
      tag: 'record',
      reply: ATTESTATION_HISTORY,
      summary: 'Prediction and resolution attestations, newest first, of 7 days unless other horizons are named',
      description:
        'One prediction per day and its resolution; `horizons=all` adds 1, 2 and 3 days. To read the whole record, send `nextCursor`, ' +
        'also in the header `Link` (RFC 8288), as `before` until it is null. Attestations of one block have a fixed order.',
      query: z.object({
        limit: limitInput(PAGE_LIMITS.attestations.most, PAGE_LIMITS.attestations.default),
        before: attestationUidInput
          .optional()
          .describe('Only attestations before this one in list order: `nextCursor` of the previous page'),
        ...HORIZON_PARAMETERS,
      }),
      shared: 'state',
      variesByCaller: true,
      async handle({ query, caller }) {
        const { limit, before = null } = query;
        const horizons = selectHorizons(query);
        const wanted = { horizons: horizons.map(parseHorizonDays), limit, before };
        const { attestations: data, total, nextBefore } = await readAttestations(wanted, deps, caller);
        const next = nextBefore === null ? null : { limit, horizons: horizons.join(','), before: nextBefore };
        return {
          headers: buildNextPageHeaders(deps.publicUrl, HISTORY_PATH, next),
          body: { success: true as const, data, attestations: data, count: data.length, total, horizons, nextCursor: nextBefore },
        };
      },
    }),
    route('GET /api/svc/onchain-oracle/verify/{uid}', 'verifyAttestation', {
      tag: 'record',
      cost: 'rpc',
      reply: VERIFICATION,
      errors: ['NOT_FOUND'],
      summary: 'An attestation on chain, with every check of its forecast',
      params: z.object({ uid: attestationUidInput }),
      variesByCaller: true,
      handle: async ({ params, caller }) => ({ body: await readVerification(params.uid, deps, caller) }),
    }),
    route('GET /api/svc/onchain-oracle/stats', 'getAttestationStats', {
      units: 0.1,
      tag: 'record',
      reply: ATTESTATION_STATS,
      summary: 'Number, period and cost of attestations, of 7 days unless other horizons are named',
      description: 'To compare the counts with the chain, which has all horizons, send `horizons=all`.',
      query: z.object(HORIZON_PARAMETERS),
      async handle({ query }) {
        const horizons = selectHorizons(query);
        const counted = await readAttestationStats(horizons.map(parseHorizonDays), deps);
        const { predictions, resolutions, firstAttestation, latestAttestation, totalGasWei } = counted;
        return {
          body: {
            success: true as const,
            data: { totalPublished: predictions, totalResolved: resolutions, totalGasWei: totalGasWei.toString() },
            horizons,
            totalAttestations: predictions + resolutions,
            predictions,
            resolutions,
            firstAttestation,
            latestAttestation,
            chain: `eip155:${deps.chain.chainId}`,
            attester: deps.wallets.attester.address,
          },
        };
      },
    }),
  ];
}
