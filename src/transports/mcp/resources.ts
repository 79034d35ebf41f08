import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { SKILLS } from '../../../skills/index.ts';
import { recordHorizonInput } from '../../forecast/horizon-input.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { McpBackend } from './backends/backend.ts';
import { completeUid, FORECAST_HORIZONS, filterByPrefix, listNewestEntries, SCORED_HORIZONS } from './completions.ts';
import type { McpServerOptions } from './options.ts';
import type { McpPayments } from './payments.ts';
import { type ErrorGuard, resourceNotFound } from './rpc-error.ts';
import { describeTool } from './tools/tool-schema.ts';

/** Attestations in `resources/list`; older ones are read by their uid. */
const LISTED_ATTESTATIONS = 5;

const SCORECARD_ENTRIES = 20;

const JSON_TYPE = 'application/json';

/** Content depends on the caller's tier, so shared caches must not store it. */
const PRIVATE_JSON = { mimeType: JSON_TYPE, cacheHint: { ttlMs: 60_000, cacheScope: 'private' } } as const;
const PUBLIC_CACHE = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

export function registerResources(
  server: McpServer,
  backend: McpBackend,
  guard: ErrorGuard,
  { payments }: Pick<McpServerOptions, 'payments'>,
): void {
  registerSignals(server, backend, guard);
  registerScorecards(server, backend, guard);
  registerAttestations(server, backend, guard);
  registerSchemas(server, payments);
  const about = {
    title: 'Methodology',
    description: 'How forecasts are made, committed, resolved and scored, and how to check one by hand',
    mimeType: 'text/markdown',
    cacheHint: PUBLIC_CACHE,
  };
  server.registerResource('methodology', 'oracle://methodology', about, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/markdown', text: backend.methodology }],
  }));
}

function registerSignals(server: McpServer, backend: McpBackend, guard: ErrorGuard): void {
  const template = buildHorizonTemplate('signal', 'Signal', FORECAST_HORIZONS);
  const config = {
    title: 'Signal of a horizon',
    description: 'The newest forecast with its market context; GATED until its outcome without a token',
    ...PRIVATE_JSON,
  };
  const read = guard(async ({ href }: URL, { horizon }: TemplateVariables) => {
    const parsed = recordHorizonInput.safeParse(horizon);
    if (!parsed.success) throw resourceNotFound(href, `The horizons are ${FORECAST_HORIZONS.join(', ')}`);
    return toJsonContents(href, await backend.publicSignal(parsed.data));
  });
  server.registerResource('signal', template, config, read);
}

function registerScorecards(server: McpServer, backend: McpBackend, guard: ErrorGuard): void {
  const template = buildHorizonTemplate('scorecard', 'Scorecard', SCORED_HORIZONS);
  const config = {
    title: 'Scorecard of a horizon',
    description: `The record with error bars, and its newest ${SCORECARD_ENTRIES} forecasts`,
    ...PRIVATE_JSON,
  };
  const read = guard(({ href }: URL, { horizon }: TemplateVariables) =>
    readSkillOutput(href, backend.run('get_track_record', { horizon, pageSize: SCORECARD_ENTRIES })),
  );
  server.registerResource('scorecard', template, config, read);
}

function registerAttestations(server: McpServer, backend: McpBackend, guard: ErrorGuard): void {
  const template = new ResourceTemplate('oracle://attestations/{uid}', {
    list: guard(() => listAttestationResources(backend)),
    complete: { uid: guard((typed: string) => completeUid(backend, typed)) },
  });
  const config = {
    title: 'Attestation, checked',
    description: 'As it stands on chain, compared with the record field by field',
    ...PRIVATE_JSON,
  };
  const read = guard(({ href }: URL, { uid }: TemplateVariables) => readSkillOutput(href, backend.run('verify_prediction', { uid })));
  server.registerResource('attestation', template, config, read);
}

function registerSchemas(server: McpServer, payments: McpPayments): void {
  const ids = SKILLS.map(({ id }) => id);
  const template = new ResourceTemplate('oracle://schemas/{tool}', {
    list: () => ({ resources: ids.map((id) => ({ uri: `oracle://schemas/${id}`, name: `schema-${id}`, title: `Schema of ${id}` })) }),
    complete: { tool: (typed) => filterByPrefix(ids, typed) },
  });
  const config = {
    title: 'Schema of a tool',
    description: 'Input and full answer as JSON Schema',
    mimeType: JSON_TYPE,
    cacheHint: PUBLIC_CACHE,
  };
  server.registerResource('schema', template, config, ({ href }: URL, { tool }: TemplateVariables) => {
    const skill = SKILLS.find(({ id }) => id === tool);
    if (skill === undefined) throw resourceNotFound(href, `The tools are ${ids.join(', ')}`);
    return toJsonContents(href, describeTool(skill, payments));
  });
}

type TemplateVariables = Record<string, string | string[]>;

function buildHorizonTemplate(name: string, title: string, horizons: readonly string[]): ResourceTemplate {
  const resources = horizons.map((horizon) => ({
    uri: `oracle://${name}/${horizon}`,
    name: `${name}-${horizon}`,
    title: `${title} over ${horizon}`,
  }));
  return new ResourceTemplate(`oracle://${name}/{horizon}`, {
    list: () => ({ resources }),
    complete: { horizon: (typed) => filterByPrefix(horizons, typed) },
  });
}

async function listAttestationResources(backend: McpBackend) {
  const entries = await listNewestEntries(backend, LISTED_ATTESTATIONS);
  const attested = entries.filter(({ attestationUid }) => attestationUid !== null);
  return {
    resources: attested.map(({ attestationUid, predictionId, date, horizon }) => ({
      uri: `oracle://attestations/${attestationUid}`,
      name: `attestation-${predictionId}`,
      title: `Forecast of ${date} over ${horizon}, as attested`,
    })),
  };
}

/** An invalid horizon or uid is part of the URI, so it is reported as a missing resource. */
async function readSkillOutput(uri: string, answer: ReturnType<McpBackend['run']>) {
  try {
    return toJsonContents(uri, (await answer).output);
  } catch (error) {
    if (isOracleError(error, 'INPUT_INVALID') || isOracleError(error, 'NOT_FOUND')) throw resourceNotFound(uri, error.message);
    throw error;
  }
}

function toJsonContents(uri: string, value: unknown) {
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
}
