import { z } from 'zod';
import { CARD_KEY_RETIREMENT_DAYS } from '../../../auth/tokens/card-key-store.ts';
import type { WebhookRegistry } from '../../../events/webhooks/registry/webhook-registry.ts';
import type { WebhookView } from '../../../events/webhooks/registry/webhook-view.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { WagerSwitchChange } from '../../../wager/wager-switch.ts';
import type { HttpDeps } from '../deps.ts';
import { limitInput } from '../server/parsing/parameters.ts';
import { walletInput } from '../server/parsing/wallet-parameters.ts';
import { type Route, route } from '../server/route.ts';
import type { AuditEntry } from './audit-log.ts';
import * as schemas from './schemas.ts';

type AdminDeps = Pick<HttpDeps, 'access' | 'administration' | 'card' | 'now' | 'webhooks'>;

/** Interface, section 5: HTTP Basic; every change is audited before it takes place. */
export function adminRoutes(deps: AdminDeps): Route[] {
  return [...stepRoutes(deps), ...wagerRoutes(deps), webhookRoute(deps), ...accessRoutes(deps), auditRoute(deps)];
}

const ADMIN_ROUTE = { tag: 'admin', access: 'admin' } as const;

function stepRoutes({ administration, now }: AdminDeps): Route[] {
  return [
    route('GET /admin/steps', 'listSteps', {
      ...ADMIN_ROUTE,
      summary: 'Latest run of every daily step',
      reply: schemas.STEPS_REPLY,
      handle: async () => ({ body: { success: true as const, steps: await administration.steps(), now: now().toISOString() } }),
    }),
    route('POST /admin/steps/{step}', 'runStep', {
      ...ADMIN_ROUTE,
      summary: 'Runs a daily step now',
      description:
        'Same as `npm run pipeline`. Steps are idempotent: a repeated run changes nothing. A step before its scheduled time and a future day are rejected.',
      params: z.object({
        step: z.enum(schemas.ADMIN_STEP_NAMES, { error: `must be one of ${schemas.ADMIN_STEP_NAMES.join(', ')}` }).describe('Step to run'),
      }),
      body: schemas.STEP_BODY,
      reply: schemas.STEP_REPLY,
      errors: ['CONFLICT', 'STEP_WAITING'],
      async handle({ params: { step }, body: { day }, source }) {
        const parameters = { step, ...(day === undefined ? {} : { day }) };
        const work = () => administration.runStep(step, day);
        const describeResult = ({ state, detail }: { state: string; detail: string }) => `${state}: ${detail}`;
        const result = await administration.audit.run({ action: 'steps.run', parameters, source }, work, describeResult);
        return { body: { success: true as const, ...result } };
      },
    }),
  ];
}

function wagerRoutes({ administration: { audit, wagerSwitch, wagersOff }, now }: AdminDeps): Route[] {
  const describeResult = ({ changed, paused }: WagerSwitchChange) => `${paused ? 'paused' : 'not paused'}${changed ? '' : ', as before'}`;
  const toReply = ({ since, ...state }: WagerSwitchChange): { body: z.input<typeof schemas.WAGER_SWITCH_REPLY> } => ({
    body: { success: true, ...state, since: since?.toISOString() ?? null, offBySettings: wagersOff },
  });
  return [
    route('POST /admin/wagers/pause', 'pauseWagers', {
      ...ADMIN_ROUTE,
      summary: 'Pauses new wagers in all processes',
      description: 'Open wagers still settle. Idempotent: the first reason is kept.',
      body: schemas.PAUSE_BODY,
      reply: schemas.WAGER_SWITCH_REPLY,
      async handle({ body: { reason }, source }) {
        const work = () => wagerSwitch.pause(reason, now());
        return toReply(await audit.run({ action: 'wagers.pause', parameters: { reason }, source }, work, describeResult));
      },
    }),
    route('POST /admin/wagers/resume', 'resumeWagers', {
      ...ADMIN_ROUTE,
      summary: 'Resumes wagers',
      description: 'A paused wager is still placed if its outcome window has not opened.',
      reply: schemas.WAGER_SWITCH_REPLY,
      async handle({ source }) {
        const work = () => wagerSwitch.resume(now());
        return toReply(await audit.run({ action: 'wagers.resume', parameters: {}, source }, work, describeResult));
      },
    }),
  ];
}

function webhookRoute({ administration: { audit }, webhooks }: AdminDeps): Route {
  return route('POST /admin/webhooks/{id}/disable', 'disableWebhook', {
    ...ADMIN_ROUTE,
    summary: 'Disables a webhook of any owner',
    description: 'It stays disabled until its owner deletes it. Idempotent.',
    params: z.object({ id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Webhook id') }),
    body: schemas.DISABLE_BODY,
    reply: schemas.DISABLED_REPLY,
    errors: ['NOT_FOUND'],
    async handle({ params: { id }, body: { reason }, source }) {
      const work = () => disableWebhook(webhooks, id, reason);
      const webhook = await audit.run({ action: 'webhooks.disable', parameters: { id, reason }, source }, work, ({ status }) => status);
      return { body: toDisabledReply(webhook) };
    },
  });
}

function accessRoutes({ access, administration: { audit }, card }: AdminDeps): Route[] {
  return [
    route('POST /admin/keys/rotate', 'rotateTokenKeys', {
      ...ADMIN_ROUTE,
      summary: 'Rotates the signing key of access tokens',
      body: schemas.ROTATE_BODY,
      reply: schemas.ROTATED_REPLY,
      async handle({ body: { revoke }, source }) {
        const describeResult = (rotated: { kid: string; revokedKids: string[] }) =>
          `new key ${rotated.kid}; ${rotated.revokedKids.length} revoked`;
        const auditedAction = { action: 'keys.rotate', parameters: { revoke: String(revoke) }, source };
        return {
          body: { success: true as const, ...(await audit.run(auditedAction, () => access.keys.rotate({ revoke }), describeResult)) },
        };
      },
    }),
    route('POST /admin/card-keys/rotate', 'rotateCardKeys', {
      ...ADMIN_ROUTE,
      summary: 'Rotates the signing key of the agent card',
      description: `Other processes use the new key within a minute. Cards under earlier keys verify for ${CARD_KEY_RETIREMENT_DAYS} more days unless revoked.`,
      body: schemas.ROTATE_CARD_BODY,
      bodyOptional: true,
      reply: schemas.CARD_KEY_REPLY,
      async handle({ body: { revoke }, source }) {
        const auditedAction = { action: 'card-keys.rotate', parameters: { revoke: String(revoke) }, source };
        const rotated = await audit.run(
          auditedAction,
          () => card.rotate({ revoke }),
          ({ kid }) => `new key ${kid}`,
        );
        return { body: { success: true as const, ...rotated } };
      },
    }),
    route('POST /admin/wallets/{wallet}/revoke', 'revokeWallet', {
      ...ADMIN_ROUTE,
      summary: 'Revokes all sessions, API keys and allowed applications of a wallet',
      params: z.object({ wallet: walletInput }),
      reply: schemas.REVOKED_REPLY,
      async handle({ params, source }) {
        const work = () => access.revokeAccess(params.wallet);
        const auditedAction = { action: 'wallets.revoke', parameters: params, source };
        const sessions = await audit.run(auditedAction, work, (count) => `${count} sessions, API keys and applications ended`);
        return { body: { success: true as const, wallet: params.wallet, sessions } };
      },
    }),
  ];
}

function auditRoute({ administration: { audit } }: AdminDeps): Route {
  return route('GET /admin/audit', 'listAuditEntries', {
    ...ADMIN_ROUTE,
    summary: 'Operator actions, newest first',
    query: z.object({ limit: limitInput(500, 50) }),
    reply: schemas.AUDIT_REPLY,
    async handle({ query }) {
      const entries = (await audit.listNewest(query.limit)).map(toAuditEntryReply);
      return { body: { success: true as const, entries, count: entries.length } };
    },
  });
}

/** Replaces the error for owners, whose text is about the webhooks of the caller. */
async function disableWebhook(webhooks: WebhookRegistry, id: string, reason: string): Promise<WebhookView> {
  try {
    return await webhooks.disable(id, reason);
  } catch (error) {
    if (!isOracleError(error, 'NOT_FOUND')) throw error;
    throw new OracleError('NOT_FOUND', 'No webhook with this id', { field: 'id', cause: error });
  }
}

/** Omits the URL, which may contain a secret of the owner. */
function toDisabledReply({ _id, status, disabledAt, disabledReason }: WebhookView): z.input<typeof schemas.DISABLED_REPLY> {
  return { success: true, id: _id, status, disabledAt: disabledAt?.toISOString() ?? null, disabledReason };
}

function toAuditEntryReply({ _id, at, endedAt, ...entry }: AuditEntry): z.input<typeof schemas.AUDIT_REPLY>['entries'][number] {
  return { id: _id.toHexString(), ...entry, at: at.toISOString(), endedAt: endedAt?.toISOString() ?? null };
}
