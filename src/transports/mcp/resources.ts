import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { recordHorizonInput } from '../../forecast/horizon-input.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { McpBackend } from './backends/backend.ts';
import { completeUid, FORECAST_HORIZONS, filterByPrefix, listNewestEntries, SCORED_HORIZONS } from './completions.ts';
import { resourceNotFound } from './errors/handler-errors.ts';

/** Attestations that are listed; all others are read by their uid. */
const LISTED_ATTESTATIONS = 20;

/** Forecasts that a scorecard has beside its statistics. */
const SCORECARD_ENTRIES = 20;

const JSON_TYPE = 'application/json';

/** What depends on the caller is kept by nobody else. */
const PRIVATE_CACHE = { ttlMs: 60_000, cacheScope: 'private' } as const;
const PUBLIC_CACHE = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** What can be read beside the tools: the public signal, scorecards, attestations, and how all of it is made. */
export function registerResources(server: McpServer, backend: McpBackend): void {
  registerSignals(server, backend);
  registerScorecards(server, backend);
  registerAttestations(server, backend);
  const about = {
    title: 'Methodology',
    description: 'How forecasts are made, committed, resolved and scored, what they are worth, and how to check one by hand',
    mimeType: 'text/markdown',
    cacheHint: PUBLIC_CACHE,
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
    complete: { horizon: (typed) => filterByPrefix(FORECAST_HORIZONS, typed) },
  });
  const config = {
    title: 'Signal of a horizon',
    description: 'The newest forecast of BTC/USD with its market context; GATED until its outcome is on chain for callers below Basic',
    mimeType: JSON_TYPE,
    cacheHint: PRIVATE_CACHE,
  };
  server.registerResource('signal', template, config, async ({ href }, { horizon }) => {
    const named = recordHorizonInput.safeParse(horizon);
    if (!named.success) throw resourceNotFound(href, `The horizons are ${FORECAST_HORIZONS.join(', ')}`);
    return toJsonContents(href, await backend.publicSignal(named.data));
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
    complete: { horizon: (typed) => filterByPrefix(SCORED_HORIZONS, typed) },
  });
  const config = {
    title: 'Scorecard of a horizon',
    description: `What the record is worth, with error bars, and its newest ${SCORECARD_ENTRIES} forecasts`,
    mimeType: JSON_TYPE,
    cacheHint: PRIVATE_CACHE,
  };
  server.registerResource('scorecard', template, config, ({ href }, { horizon }) =>
    mapToNotFound(href, async () => {
      const { output } = await backend.run('get_track_record', { horizon, pageSize: SCORECARD_ENTRIES });
      return toJsonContents(href, output);
    }),
  );
}

function registerAttestations(server: McpServer, backend: McpBackend): void {
  const template = new ResourceTemplate('oracle://attestations/{uid}', {
    list: () => listAttestationResources(backend),
    complete: { uid: (typed) => completeUid(backend, typed) },
  });
  const config = {
    title: 'Attestation, checked',
    description: 'A forecast or an outcome as it stands on chain, compared with the record field by field',
    mimeType: JSON_TYPE,
    cacheHint: PRIVATE_CACHE,
  };
  server.registerResource('attestation', template, config, ({ href }, { uid }) =>
    mapToNotFound(href, async () => toJsonContents(href, (await backend.run('verify_prediction', { uid })).output)),
  );
}

async function listAttestationResources(backend: McpBackend) {
  const entries = await listNewestEntries(backend, LISTED_ATTESTATIONS);
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

function toJsonContents(uri: string, value: unknown) {
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
}

/** A horizon or a uid that is none makes a URI that leads nowhere. */
async function mapToNotFound<T>(uri: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isOracleError(error, 'INPUT_INVALID') || isOracleError(error, 'NOT_FOUND')) throw resourceNotFound(uri, error.message);
    throw error;
  }
}
