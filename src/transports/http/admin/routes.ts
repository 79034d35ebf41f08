import { z } from 'zod';
import { CARD_KEY_RETIREMENT_DAYS } from '../../../auth/tokens/card-key-store.ts';
import type { WebhookRegistry } from '../../../events/webhooks/registry/webhook-registry.ts';
import type { WebhookView } from '../../../events/webhooks/registry/webhook-view.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { WagerSwitchChange } from '../../../wager/wager-switch.ts';
import type { HttpDeps } from '../deps.ts';
import { limitInput } from '../server/parsing/parameters.ts';
import { walletInput } from '../server/parsing/wallet-parameters.ts';
import { type Route, type RouteInput, route } from '../server/route.ts';
import type { AuditEntry } from './audit-log.ts';
import {
  ADMIN_STEP_NAMES,
  AUDIT_REPLY,
  CARD_KEY_REPLY,
  DISABLE_BODY,
  DISABLED_REPLY,
  PAUSE_BODY,
  REVOKED_REPLY,
  ROTATE_BODY,
  ROTATE_CARD_BODY,
  ROTATED_REPLY,
  STEP_BODY,
  STEP_REPLY,
  STEPS_REPLY,
  WAGER_SWITCH_REPLY,
} from './schemas.ts';

/** Interface, section 5: the operator's own, under HTTP Basic. Whatever changes something is on the record before it is done. */
export function adminRoutes(deps: HttpDeps): Route[] {
  return [...stepRoutes(deps), ...wagerRoutes(deps), webhookRoute(deps), ...accessRoutes(deps), auditRoute(deps)];
}

const ADMIN_ROUTE = { tag: 'admin', access: 'admin' } as const;

type AdminRequest = Pick<RouteInput<unknown, unknown, unknown>, 'source'>;

/** Does something on the record of the operator's actions. */
function createAuditedRunner({ administration: { audit } }: HttpDeps, action: string) {
  return <T>(
    { source: origin }: AdminRequest,
    parameters: Record<string, string>,
    work: () => Promise<T>,
    describeResult: (result: T) => string,
  ) => audit.run({ action, parameters, source: origin }, work, describeResult);
}

function stepRoutes(deps: HttpDeps): Route[] {
  const { administration, now } = deps;
  const runAudited = createAuditedRunner(deps, 'steps.run');
  return [
    route({
      ...ADMIN_ROUTE,
      path: '/admin/steps',
      name: 'listSteps',
      summary: 'The newest run of every step of the day',
      reply: STEPS_REPLY,
      handle: async () => ({ body: { success: true as const, steps: await administration.steps(), now: now().toISOString() } }),
    }),
    route({
      ...ADMIN_ROUTE,
      method: 'post',
      path: '/admin/steps/{step}',
      name: 'runStep',
      summary: 'Runs a step of the day now, or runs it again',
      description:
        'The same as `npm run pipeline`. What is done stays done: a step that is run again changes nothing. A step before its time is refused, and so is a day that lies ahead.',
      params: z.object({
        step: z.enum(ADMIN_STEP_NAMES, { error: `must be one of ${ADMIN_STEP_NAMES.join(', ')}` }).describe('What to run'),
      }),
      body: STEP_BODY,
      reply: STEP_REPLY,
      errors: ['CONFLICT', 'STEP_WAITING'],
      async handle({ params: { step }, body: { day }, ...request }) {
        const work = () => administration.runStep(step, day);
        const result = await runAudited(
          request,
          { step, ...(day === undefined ? {} : { day }) },
          work,
          ({ state, detail }) => `${state}: ${detail}`,
        );
        return { body: { success: true as const, ...result } };
      },
    }),
  ];
}

function wagerRoutes(deps: HttpDeps): Route[] {
  const { administration, now } = deps;
  const { wagerSwitch } = administration;
  const reply = (switchState: WagerSwitchChange) => ({ body: toSwitchReply(switchState, administration.wagersOff) });
  const describeResult = ({ changed, paused }: WagerSwitchChange) => `${paused ? 'paused' : 'not paused'}${changed ? '' : ', as before'}`;
  return [
    route({
      ...ADMIN_ROUTE,
      method: 'post',
      path: '/admin/wagers/pause',
      name: 'pauseWagers',
      summary: 'Holds back new wagers, in all processes',
      description: 'Open wagers settle all the same. Pausing again changes nothing: the first reason stands.',
      body: PAUSE_BODY,
      reply: WAGER_SWITCH_REPLY,
      handle: async ({ body: { reason }, ...request }) =>
        reply(await createAuditedRunner(deps, 'wagers.pause')(request, { reason }, () => wagerSwitch.pause(reason, now()), describeResult)),
    }),
    route({
      ...ADMIN_ROUTE,
      method: 'post',
      path: '/admin/wagers/resume',
      name: 'resumeWagers',
      summary: 'Lets new wagers out again',
      description: 'The wager of a day that was held back is still made while its outcome window is not open.',
      reply: WAGER_SWITCH_REPLY,
      handle: async (request) =>
        reply(await createAuditedRunner(deps, 'wagers.resume')(request, {}, () => wagerSwitch.resume(now()), describeResult)),
    }),
  ];
}

function webhookRoute(deps: HttpDeps): Route {
  return route({
    ...ADMIN_ROUTE,
    method: 'post',
    path: '/admin/webhooks/{id}/disable',
    name: 'disableWebhook',
    summary: "Ends the calls of somebody's webhook",
    description: 'It stays disabled until its owner deletes it. Disabling it again changes nothing.',
    params: z.object({ id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Id of a webhook') }),
    body: DISABLE_BODY,
    reply: DISABLED_REPLY,
    errors: ['NOT_FOUND'],
    async handle({ params: { id }, body: { reason }, ...request }) {
      const work = () => disableWebhook(deps.webhooks, id, reason);
      const webhook = await createAuditedRunner(deps, 'webhooks.disable')(request, { id, reason }, work, ({ status }) => status);
      return { body: toDisabledReply(webhook) };
    },
  });
}

function accessRoutes(deps: HttpDeps): Route[] {
  const { access, card } = deps;
  return [
    route({
      ...ADMIN_ROUTE,
      method: 'post',
      path: '/admin/keys/rotate',
      name: 'rotateTokenKeys',
      summary: 'Makes a new key that access tokens are signed with',
      body: ROTATE_BODY,
      reply: ROTATED_REPLY,
      async handle({ body: { revoke }, ...request }) {
        const work = () => access.keys.rotate({ revoke });
        const describeResult = ({ kid, revokedKids }: { kid: string; revokedKids: string[] }) =>
          `new key ${kid}; ${revokedKids.length} revoked`;
        const rotated = await createAuditedRunner(deps, 'keys.rotate')(request, { revoke: String(revoke) }, work, describeResult);
        return { body: { success: true as const, ...rotated } };
      },
    }),
    route({
      ...ADMIN_ROUTE,
      method: 'post',
      path: '/admin/card-keys/rotate',
      name: 'rotateCardKeys',
      summary: 'Makes a new key that the agent card is signed with',
      description: `Other processes sign with it within a minute. Cards under earlier keys can be checked for ${CARD_KEY_RETIREMENT_DAYS} days more, unless they are revoked.`,
      body: ROTATE_CARD_BODY,
      bodyOptional: true,
      reply: CARD_KEY_REPLY,
      async handle({ body: { revoke }, ...request }) {
        const work = () => card.rotate({ revoke });
        const describeResult = ({ kid }: { kid: string }) => `new key ${kid}`;
        const rotated = await createAuditedRunner(deps, 'card-keys.rotate')(request, { revoke: String(revoke) }, work, describeResult);
        return { body: { success: true as const, ...rotated } };
      },
    }),
    route({
      ...ADMIN_ROUTE,
      method: 'post',
      path: '/admin/wallets/{wallet}/revoke',
      name: 'revokeWallet',
      summary: 'Ends all sessions of a wallet',
      params: z.object({ wallet: walletInput }),
      reply: REVOKED_REPLY,
      async handle({ params, ...request }) {
        const work = () => access.revokeSessions(params.wallet);
        const sessions = await createAuditedRunner(deps, 'wallets.revoke')(request, params, work, (count) => `${count} sessions ended`);
        return { body: { success: true as const, wallet: params.wallet, sessions } };
      },
    }),
  ];
}

function auditRoute({ administration: { audit } }: HttpDeps): Route {
  return route({
    ...ADMIN_ROUTE,
    path: '/admin/audit',
    name: 'listAuditEntries',
    summary: 'What the operator did, newest first',
    query: z.object({ limit: limitInput(500, 50) }),
    reply: AUDIT_REPLY,
    async handle({ query }) {
      const entries = (await audit.listNewest(query.limit)).map(toAuditEntryReply);
      return { body: { success: true as const, entries, count: entries.length } };
    },
  });
}

function toSwitchReply({ since, ...switchState }: WagerSwitchChange, offBySettings: boolean): z.input<typeof WAGER_SWITCH_REPLY> {
  return { success: true, ...switchState, since: since?.toISOString() ?? null, offBySettings };
}

/** Its owner is told of his own webhooks, the operator of anybody's. */
async function disableWebhook(webhooks: WebhookRegistry, id: string, reason: string): Promise<WebhookView> {
  try {
    return await webhooks.disable(id, reason);
  } catch (error) {
    if (!isOracleError(error, 'NOT_FOUND')) throw error;
    throw new OracleError('NOT_FOUND', 'There is no webhook of this id', { field: 'id', cause: error });
  }
}

/** Without its URL, which may hold a secret of its owner's. */
function toDisabledReply({ _id, status, disabledAt, disabledReason }: WebhookView): z.input<typeof DISABLED_REPLY> {
  return { success: true, id: _id, status, disabledAt: disabledAt?.toISOString() ?? null, disabledReason };
}

function toAuditEntryReply({ _id, at, endedAt, ...entry }: AuditEntry): z.input<typeof AUDIT_REPLY>['entries'][number] {
  return { id: _id.toHexString(), ...entry, at: at.toISOString(), endedAt: endedAt?.toISOString() ?? null };
}
