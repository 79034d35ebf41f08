import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import { CARD_KEY_RETIREMENT_DAYS } from '../../auth/tokens.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { WEBHOOK_STATUSES } from '../../events/webhooks/queue.ts';
import { ADDRESS, COUNT, DATE, SUCCESS, TIME, withInputRules } from '../../platform/validation.ts';
import type { WagerSwitchChange } from '../../wager/wagers.ts';
import { ADMIN_STEP_NAMES, ADMIN_STEP_STATES, AUDIT_STATES, type AuditLog } from '../admin.ts';
import { parseRequest, readBody } from '../guard.ts';
import { limitInput, offsetInput, walletInput } from '../parameters.ts';
import { getRequestSource } from '../request.ts';
import { type Route, route } from '../route.ts';
import { STEP_RUN } from '../schemas/health.ts';
import type { Services } from '../services.ts';

/** The UI framework sets inline styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const MAX_JOBS = 200;

const CHANGES = {
  requeue: async (jobs: JobsConsole, ids: string[]) => jobs.requeueJobs(ids),
  retry: async (jobs: JobsConsole, ids: string[]) => jobs.retryJobs(ids),
  delete: async (jobs: JobsConsole, ids: string[]) => jobs.deleteJobs(ids),
  pause: async (jobs: JobsConsole, ids: string[]) => jobs.pauseJobs(ids),
  resume: async (jobs: JobsConsole, ids: string[]) => jobs.resumeJobs(ids),
};

const text = z.string().max(100, 'must have at most 100 characters').optional();
const FILTER_SCHEMAS = {
  query: z.object({ job: text, state: text, q: text, skip: offsetInput(100_000), limit: limitInput(MAX_JOBS, 50) }),
};
const STATS_SCHEMAS = { query: z.object({ fullDetails: z.enum(['true', 'false'], 'must be true or false').default('false') }) };
const CHANGE_SCHEMAS = {
  params: z.object({ change: z.enum(Object.keys(CHANGES) as (keyof typeof CHANGES)[]) }),
  body: z.strictObject({
    jobIds: z
      .array(z.string().regex(/^[0-9a-f]{24}$/, 'must be a job id'), 'must be a list of job ids')
      .min(1, 'must name at least one job')
      .max(MAX_JOBS, `must name at most ${MAX_JOBS} jobs`),
  }),
};

/** Agendash with an API that validates requests and audits changes. It cannot create jobs: the schedule is code. */
export function createJobsPage(source: JobsSource, audit: AuditLog): RequestHandler {
  const page = Router({ strict: true });
  page.use((_request, response, next) => {
    response.set('Content-Security-Policy', POLICY);
    next();
  });
  page.get('/api', async (request, response) => {
    const { query } = parseJobsRequest(FILTER_SCHEMAS, request);
    const { job: name, q: search, ...filter } = query;
    response.json(await (await source.console()).getJobs({ ...filter, name, search }));
  });
  page.get('/api/stats', async (request, response) => void response.json(await readRunningJobs(source, request)));
  // Jobs write no logs of their own.
  page.get('/api/logs', (_request, response) => void response.json({ entries: [], total: 0, loggingEnabled: false }));
  page.post('/api/jobs/:change', (request, response) => changeJobs(source, audit, request, response));
  page.use(express.static(source.files, { cacheControl: false }));
  return page;
}

function parseJobsRequest<S extends Partial<Record<'params' | 'query' | 'body', z.ZodObject>>>(schemas: S, request: Request) {
  return parseRequest(schemas, request) as unknown as { [Place in keyof S]: z.output<S[Place]> };
}

async function readRunningJobs({ running }: JobsSource, request: Request): Promise<object> {
  const { query } = parseJobsRequest(STATS_SCHEMAS, request);
  const found = await running(query.fullDetails === 'true');
  if (found !== null) return found;
  const suggestedAction = 'The list of jobs is the same in all processes.';
  throw new OracleError('STEP_WAITING', 'This process runs no jobs, or not yet: query a worker', { suggestedAction });
}

async function changeJobs(source: JobsSource, audit: AuditLog, request: Request, response: Response): Promise<void> {
  await readBody(request, response);
  const { params, body } = parseJobsRequest(CHANGE_SCHEMAS, request);
  const { jobIds } = body;
  const auditedAction = { action: `jobs.${params.change}`, parameters: { jobIds: jobIds.join(' ') }, source: getRequestSource(response) };
  const work = async () => CHANGES[params.change](await source.console(), jobIds);
  response.json(await audit.run<object>(auditedAction, work, (result) => JSON.stringify(result)));
}

/** Operations of the job queue; results are passed to the jobs page unchanged. */
export interface JobsConsole {
  getJobs(filter: { name?: string; state?: string; search?: string; skip: number; limit: number }): Promise<object>;
  requeueJobs(ids: string[]): Promise<{ requeuedCount: number }>;
  retryJobs(ids: string[]): Promise<{ retriedCount: number }>;
  deleteJobs(ids: string[]): Promise<{ deletedCount?: number }>;
  pauseJobs(ids: string[]): Promise<{ pausedCount: number }>;
  resumeJobs(ids: string[]): Promise<{ resumedCount: number }>;
}

/** Data of the jobs page: the queue is shared by all processes, the running jobs are those of this process. */
export interface JobsSource {
  /** Opened on first use. */
  console(): Promise<JobsConsole>;
  /** Absolute path of the static files. */
  files: string;
  /** Running and waiting jobs; null where this process runs none. */
  running(fullDetails: boolean): Promise<object | null>;
}

const MAX_REASON_CHARS = 200;

const REASON = withInputRules(
  z
    .string({ error: 'must be a text' })
    .max(MAX_REASON_CHARS, `must have at most ${MAX_REASON_CHARS} characters`)
    .refine((text) => text.trim() !== '' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), 'must be a single non-empty line'),
  { pattern: '^(?=.*\\S)[^\\p{C}\\p{Zl}\\p{Zp}]*$' },
);

const STEP_BODY = z.strictObject({
  day: z.iso
    .date('must be a date of the form YYYY-MM-DD')
    .optional()
    .describe('For `signal`, `wager` and `brief`: UTC day to run; default today. Other steps take none and run what is due'),
});

const PAUSE_BODY = z.strictObject({ reason: REASON.describe('Reason for the audit log, not published') });

const DISABLE_BODY = z.strictObject({ reason: REASON.describe('Reason, visible to the owner of the webhook') });

const REVOKE = z.boolean('must be true or false').default(false);

const ROTATE_BODY = z.strictObject({
  revoke: REVOKE.describe(
    'True: tokens of earlier keys are revoked, in other processes within a minute; false: they stay valid until they expire',
  ),
});

const STEPS_REPLY = z.object({
  success: SUCCESS,
  steps: z.array(STEP_RUN).describe('Latest run of every step that has run'),
  now: TIME.describe('Clock of this process'),
});

const STEP_REPLY = z.object({
  success: SUCCESS,
  step: z.enum(ADMIN_STEP_NAMES).describe('Step that was run'),
  date: DATE.describe('Day it ran for'),
  state: z.enum(ADMIN_STEP_STATES).describe('`waiting` is retried by the schedule, `failed` needs an operator'),
  detail: z.string().describe('Result, what it waits for, or the error'),
});

const WAGER_SWITCH_REPLY = z
  .object({
    success: SUCCESS,
    changed: z.boolean().describe('False: already in this state'),
    paused: z.boolean().describe('Whether new wagers are paused; open ones still settle'),
    since: TIME.nullable().describe('When this state began; null where the switch was never used'),
    reason: z.string().nullable().describe('Reason for the pause; null while not paused'),
    offBySettings: z.boolean().describe('True: WAGERS or WAGER_KILL_SWITCH disables new wagers, regardless of this switch'),
  })
  .meta({ id: 'WagerSwitchResponse' });

const DISABLED_REPLY = z.object({
  success: SUCCESS,
  id: z.uuid().describe('Webhook id'),
  status: z.enum(WEBHOOK_STATUSES).describe('`disabled`: receives no more events'),
  disabledAt: TIME.nullable().describe('When it was disabled; null while active'),
  disabledReason: z.string().nullable().describe('Reason of the first disabling'),
});

const ROTATED_REPLY = z.object({
  success: SUCCESS,
  kid: z.string().describe('Id of the new signing key'),
  revokedKids: z.array(z.string()).describe('Ids of the revoked keys; empty unless requested'),
});

const ROTATE_CARD_BODY = z.strictObject({
  revoke: REVOKE.describe(
    'True: earlier keys are no longer published, and their cards no longer verify; false: they verify until the keys retire',
  ),
});

const CARD_KEY_REPLY = z.object({
  success: SUCCESS,
  kid: z.string().describe('Id of the new signing key of the agent card'),
});

const REVOKED_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('Wallet of the sessions and API keys'),
  sessions: COUNT.describe('Number of revoked sessions and API keys; the wallet may log in again'),
});

const AUDIT_ENTRY = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .describe('Id of the entry'),
  at: TIME.describe('Start of the action'),
  user: z.string().describe('User name'),
  address: z.string().describe('Client address as rate limits count it: an IPv4 address, or an IPv6 /64'),
  action: z.string().describe('Action'),
  parameters: z.record(z.string(), z.string()).describe('Parameters, as text'),
  requestId: z.string().describe('`X-Request-Id` of the request'),
  state: z
    .enum(AUDIT_STATES)
    .describe('`begun` is written before the action; it remains where the process died, and the outcome is unknown'),
  endedAt: TIME.nullable().describe('End of the action; null before'),
  errorCode: z.string().nullable().describe('Error code; null unless it failed'),
  result: z.string().nullable().describe('Result as text; null where there is none'),
});

const AUDIT_REPLY = z.object({
  success: SUCCESS,
  entries: z.array(AUDIT_ENTRY).describe('Operator actions, newest first'),
  count: COUNT.describe('Length of `entries`'),
});

/** Interface, section 5: HTTP Basic; every change is audited before it takes place. */
export function adminRoutes({ access, administration, card, now, webhooks }: Services): Route[] {
  const { audit, wagerSwitch, wagersOff } = administration;
  const describeSwitch = ({ changed, paused }: WagerSwitchChange) => `${paused ? 'paused' : 'not paused'}${changed ? '' : ', as before'}`;
  const toSwitchReply = ({ since, ...state }: WagerSwitchChange) => ({
    body: { success: true as const, ...state, since: since?.toISOString() ?? null, offBySettings: wagersOff },
  });
  return [
    route('GET /admin/steps', 'listSteps', {
      ...ADMIN_ROUTE,
      summary: 'Latest run of every daily step',
      reply: STEPS_REPLY,
      handle: async () => ({ body: { success: true as const, steps: await administration.steps(), now: now().toISOString() } }),
    }),
    route('POST /admin/steps/{step}', 'runStep', {
      ...ADMIN_ROUTE,
      summary: 'Runs a daily step now',
      description:
        'Same as `npm run pipeline`. Steps are idempotent: a repeated run changes nothing. A step before its scheduled time and a future day are rejected.',
      params: z.object({
        step: z.enum(ADMIN_STEP_NAMES, { error: `must be one of ${ADMIN_STEP_NAMES.join(', ')}` }).describe('Step to run'),
      }),
      body: STEP_BODY,
      reply: STEP_REPLY,
      errors: ['CONFLICT', 'STEP_WAITING'],
      async handle({ params: { step }, body: { day }, source }) {
        const parameters = { step, ...(day === undefined ? {} : { day }) };
        const work = () => administration.runStep(step, day);
        const result = await audit.run({ action: 'steps.run', parameters, source }, work, ({ state, detail }) => `${state}: ${detail}`);
        return { body: { success: true as const, ...result } };
      },
    }),
    route('POST /admin/wagers/pause', 'pauseWagers', {
      ...ADMIN_ROUTE,
      summary: 'Pauses new wagers in all processes',
      description: 'Open wagers still settle. Idempotent: the first reason is kept.',
      body: PAUSE_BODY,
      reply: WAGER_SWITCH_REPLY,
      async handle({ body: { reason }, source }) {
        const work = () => wagerSwitch.pause(reason, now());
        return toSwitchReply(await audit.run({ action: 'wagers.pause', parameters: { reason }, source }, work, describeSwitch));
      },
    }),
    route('POST /admin/wagers/resume', 'resumeWagers', {
      ...ADMIN_ROUTE,
      summary: 'Resumes wagers',
      description: 'A paused wager is still placed if its outcome window has not opened.',
      reply: WAGER_SWITCH_REPLY,
      async handle({ source }) {
        const work = () => wagerSwitch.resume(now());
        return toSwitchReply(await audit.run({ action: 'wagers.resume', parameters: {}, source }, work, describeSwitch));
      },
    }),
    route('POST /admin/webhooks/{id}/disable', 'disableWebhook', {
      ...ADMIN_ROUTE,
      summary: 'Disables a webhook of any owner',
      description: 'It stays disabled until its owner deletes it. Idempotent.',
      params: z.object({ id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Webhook id') }),
      body: DISABLE_BODY,
      reply: DISABLED_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, body: { reason }, source }) {
        const work = () =>
          webhooks.disable(id, reason).catch((cause) => {
            // In place of the error for owners, whose text is about the webhooks of the caller.
            throw isOracleError(cause, 'NOT_FOUND')
              ? new OracleError('NOT_FOUND', 'No webhook with this id', { field: 'id', cause })
              : cause;
          });
        const disabled = await audit.run({ action: 'webhooks.disable', parameters: { id, reason }, source }, work, ({ status }) => status);
        // Without the URL, which may contain a secret of the owner.
        const { status, disabledAt, disabledReason } = disabled;
        return { body: { success: true as const, id, status, disabledAt: disabledAt?.toISOString() ?? null, disabledReason } };
      },
    }),
    route('POST /admin/keys/rotate', 'rotateTokenKeys', {
      ...ADMIN_ROUTE,
      summary: 'Rotates the signing key of access tokens',
      body: ROTATE_BODY,
      reply: ROTATED_REPLY,
      async handle({ body: { revoke }, source }) {
        const auditedAction = { action: 'keys.rotate', parameters: { revoke: String(revoke) }, source };
        const work = () => access.keys.rotate({ revoke });
        const rotated = await audit.run(auditedAction, work, ({ kid, revokedKids }) => `new key ${kid}; ${revokedKids.length} revoked`);
        return { body: { success: true as const, ...rotated } };
      },
    }),
    route('POST /admin/card-keys/rotate', 'rotateCardKeys', {
      ...ADMIN_ROUTE,
      summary: 'Rotates the signing key of the agent card',
      description: `Other processes use the new key within a minute. Cards under earlier keys verify for ${CARD_KEY_RETIREMENT_DAYS} more days unless revoked.`,
      body: ROTATE_CARD_BODY,
      bodyOptional: true,
      reply: CARD_KEY_REPLY,
      async handle({ body: { revoke }, source }) {
        const auditedAction = { action: 'card-keys.rotate', parameters: { revoke: String(revoke) }, source };
        const work = () => card.rotate({ revoke });
        return { body: { success: true as const, ...(await audit.run(auditedAction, work, ({ kid }) => `new key ${kid}`)) } };
      },
    }),
    route('POST /admin/wallets/{wallet}/revoke', 'revokeWallet', {
      ...ADMIN_ROUTE,
      summary: 'Revokes all sessions, API keys and allowed applications of a wallet',
      params: z.object({ wallet: walletInput }),
      reply: REVOKED_REPLY,
      async handle({ params, source }) {
        const work = () => access.revokeAccess(params.wallet);
        const auditedAction = { action: 'wallets.revoke', parameters: params, source };
        const sessions = await audit.run(auditedAction, work, (count) => `${count} sessions, API keys and applications ended`);
        return { body: { success: true as const, wallet: params.wallet, sessions } };
      },
    }),
    route('GET /admin/audit', 'listAuditEntries', {
      ...ADMIN_ROUTE,
      summary: 'Operator actions, newest first',
      query: z.object({ limit: limitInput(500, 50) }),
      reply: AUDIT_REPLY,
      async handle({ query }) {
        const entries = (await audit.listNewest(query.limit)).map(({ _id, at, endedAt, ...entry }) => ({
          id: _id.toHexString(),
          ...entry,
          at: at.toISOString(),
          endedAt: endedAt?.toISOString() ?? null,
        }));
        return { body: { success: true as const, entries, count: entries.length } };
      },
    }),
  ];
}

const ADMIN_ROUTE = { tag: 'admin', access: 'admin' } as const;
