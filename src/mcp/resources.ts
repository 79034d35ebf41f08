import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { isOracleError } from '../errors.ts';
import { recordHorizonInput } from '../horizon-input.ts';
import type { McpBackend } from './backend.ts';
import { FORECAST_HORIZONS, newestEntries, SCORED_HORIZONS, startingWith, uidsLike } from './choices.ts';
import { notFound } from './guidance.ts';

/** Attestations that are listed; all others are read by their uid. */
const LISTED_ATTESTATIONS = 20;

/** Forecasts that a scorecard has beside its statistics. */
const SCORECARD_ENTRIES = 20;

const JSON_TYPE = 'application/json';

/** What depends on the caller is kept by nobody else. */
const OWN_FOR_A_MINUTE = { ttlMs: 60_000, cacheScope: 'private' } as const;
const SAME_FOR_ALL = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** What can be read beside the tools: the public signal, scorecards, attestations, and how all of it is made. */
export function registerResources(server: McpServer, backend: McpBackend): void {
  registerSignals(server, backend);
  registerScorecards(server, backend);
  registerAttestations(server, backend);
  const about = {
    title: 'Methodology',
    description: 'How forecasts are made, committed, resolved and scored, what they are worth, and how to check one by hand',
    mimeType: 'text/markdown',
    cacheHint: SAME_FOR_ALL,
  };
  server.registerResource('methodology', 'oracle://methodology', about, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/markdown', text: backend.methodology }],
  }));
}

function registerSignals(server: McpServer, backend: McpBackend): void {
  const template = new ResourceTemplate('oracle://signal/{horizon}', {
    list: () => ({
      resources: FORECAST_HORIZONS.map((horizon) => ({
        uri: `oracle://signal/${horizon}`,
        name: `signal-${horizon}`,
        title: `Signal over ${horizon}`,
      })),
    }),
    complete: { horizon: (typed) => startingWith(FORECAST_HORIZONS, typed) },
  });
  const config = {
    title: 'Signal of a horizon',
    description: 'The newest forecast of BTC/USD with its market context; GATED until its outcome is on chain for callers below Basic',
    mimeType: JSON_TYPE,
    cacheHint: OWN_FOR_A_MINUTE,
  };
  server.registerResource('signal', template, config, async ({ href }, { horizon }) => {
    const named = recordHorizonInput.safeParse(horizon);
    if (!named.success) throw notFound(href, `The horizons are ${FORECAST_HORIZONS.join(', ')}`);
    return asJson(href, await backend.publicSignal(named.data));
  });
}

function registerScorecards(server: McpServer, backend: McpBackend): void {
  const template = new ResourceTemplate('oracle://scorecard/{horizon}', {
    list: () => ({
      resources: SCORED_HORIZONS.map((horizon) => ({
        uri: `oracle://scorecard/${horizon}`,
        name: `scorecard-${horizon}`,
        title: `Scorecard over ${horizon}`,
      })),
    }),
    complete: { horizon: (typed) => startingWith(SCORED_HORIZONS, typed) },
  });
  const config = {
    title: 'Scorecard of a horizon',
    description: `What the record is worth, with error bars, and its newest ${SCORECARD_ENTRIES} forecasts`,
    mimeType: JSON_TYPE,
    cacheHint: OWN_FOR_A_MINUTE,
  };
  server.registerResource('scorecard', template, config, ({ href }, { horizon }) =>
    orNotFound(href, async () => {
      const { output } = await backend.run('get_track_record', { horizon, pageSize: SCORECARD_ENTRIES });
      return asJson(href, output);
    }),
  );
}

function registerAttestations(server: McpServer, backend: McpBackend): void {
  const template = new ResourceTemplate('oracle://attestations/{uid}', {
    list: () => listedAttestations(backend),
    complete: { uid: (typed) => uidsLike(backend, typed) },
  });
  const config = {
    title: 'Attestation, checked',
    description: 'A forecast or an outcome as it stands on chain, compared with the record field by field',
    mimeType: JSON_TYPE,
    cacheHint: OWN_FOR_A_MINUTE,
  };
  server.registerResource('attestation', template, config, ({ href }, { uid }) =>
    orNotFound(href, async () => asJson(href, (await backend.run('verify_prediction', { uid })).output)),
  );
}

async function listedAttestations(backend: McpBackend) {
  const entries = await newestEntries(backend, LISTED_ATTESTATIONS);
  return {
    resources: entries.flatMap(({ attestationUid, predictionId, date, horizon }) =>
      attestationUid === null
        ? []
        : [
            {
              uri: `oracle://attestations/${attestationUid}`,
              name: `attestation-${predictionId}`,
              title: `Forecast of ${date} over ${horizon}, as attested`,
            },
          ],
    ),
  };
}

function asJson(uri: string, value: unknown) {
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
}

/** A horizon or a uid that is none makes a URI that leads nowhere. */
async function orNotFound<T>(uri: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isOracleError(error, 'INPUT_INVALID') || isOracleError(error, 'NOT_FOUND')) throw notFound(uri, error.message);
    throw error;
  }
}
