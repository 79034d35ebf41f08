import { z } from 'zod';
import { CARD_KEY_RETIREMENT_DAYS } from '../../access/card-keys.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Webhook } from '../../push/webhooks/owned.ts';
import type { WebhookRegistry } from '../../push/webhooks/registry.ts';
import type { SwitchTurn } from '../../wager/wager-switch.ts';
import type { AuditEntry } from '../admin/audit-log.ts';
import { limit } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, type RouteInput, route } from '../route.ts';
import {
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
  STEP_NAMES,
  STEP_REPLY,
  STEPS_REPLY,
  WAGER_SWITCH_REPLY,
} from '../schemas/admin.ts';
import { wallet } from '../wallet-parameters.ts';

/** Interface, section 5: the operator's own, under HTTP Basic. Whatever changes something is on the record before it is done. */
export function adminRoutes(parts: HttpParts): Route[] {
  return [...stepRoutes(parts), ...wagerRoutes(parts), webhookRoute(parts), ...accessRoutes(parts), auditRoute(parts)];
}

const common = { tag: 'admin', access: 'admin' } as const;

type Asked = Pick<RouteInput<unknown, unknown, unknown>, 'origin'>;

/** Does something on the record of the operator's actions. */
function onRecord({ administration: { audit } }: HttpParts, action: string) {
  return <T>({ origin }: Asked, parameters: Record<string, string>, work: () => Promise<T>, wordsOf: (result: T) => string) =>
    audit.run({ action, parameters, origin }, work, wordsOf);
}

function stepRoutes(parts: HttpParts): Route[] {
  const { administration, now } = parts;
  const recorded = onRecord(parts, 'steps.run');
  return [
    route({
      ...common,
      path: '/admin/steps',
      name: 'listSteps',
      summary: 'The newest run of every step of the day',
      reply: STEPS_REPLY,
      handle: async () => ({ body: { success: true as const, steps: await administration.steps(), now: now().toISOString() } }),
    }),
    route({
      ...common,
      method: 'post',
      path: '/admin/steps/{step}',
      name: 'runStep',
      summary: 'Runs a step of the day now, or runs it again',
      description:
        'The same as `npm run pipeline`. What is done stays done: a step that is run again changes nothing. A step before its time is refused, and so is a day that lies ahead.',
      params: z.object({ step: z.enum(STEP_NAMES, { error: `must be one of ${STEP_NAMES.join(', ')}` }).describe('What to run') }),
      body: STEP_BODY,
      reply: STEP_REPLY,
      errors: ['CONFLICT', 'STEP_WAITING'],
      async handle({ params: { step }, body: { day }, ...asked }) {
        const work = () => administration.runStep(step, day);
        const result = await recorded(
          asked,
          { step, ...(day === undefined ? {} : { day }) },
          work,
          ({ state, detail }) => `${state}: ${detail}`,
        );
        return { body: { success: true as const, ...result } };
      },
    }),
  ];
}

function wagerRoutes(parts: HttpParts): Route[] {
  const { administration, now } = parts;
  const { wagerSwitch } = administration;
  const reply = (turn: SwitchTurn) => ({ body: switchReply(turn, administration.wagersOff) });
  const wordsOf = ({ changed, paused }: SwitchTurn) => `${paused ? 'paused' : 'not paused'}${changed ? '' : ', as before'}`;
  return [
    route({
      ...common,
      method: 'post',
      path: '/admin/wagers/pause',
      name: 'pauseWagers',
      summary: 'Holds back new wagers, in all processes',
      description: 'Open wagers settle all the same. Pausing again changes nothing: the first reason stands.',
      body: PAUSE_BODY,
      reply: WAGER_SWITCH_REPLY,
      handle: async ({ body: { reason }, ...asked }) =>
        reply(await onRecord(parts, 'wagers.pause')(asked, { reason }, () => wagerSwitch.pause(reason, now()), wordsOf)),
    }),
    route({
      ...common,
      method: 'post',
      path: '/admin/wagers/resume',
      name: 'resumeWagers',
      summary: 'Lets new wagers out again',
      description: 'The wager of a day that was held back is still made while its outcome window is not open.',
      reply: WAGER_SWITCH_REPLY,
      handle: async (asked) => reply(await onRecord(parts, 'wagers.resume')(asked, {}, () => wagerSwitch.resume(now()), wordsOf)),
    }),
  ];
}

function webhookRoute(parts: HttpParts): Route {
  return route({
    ...common,
    method: 'post',
    path: '/admin/webhooks/{id}/disable',
    name: 'disableWebhook',
    summary: "Ends the calls of somebody's webhook",
    description: 'It stays disabled until its owner deletes it. Disabling it again changes nothing.',
    params: z.object({ id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Id of a webhook') }),
    body: DISABLE_BODY,
    reply: DISABLED_REPLY,
    errors: ['NOT_FOUND'],
    async handle({ params: { id }, body: { reason }, ...asked }) {
      const work = () => disableWebhook(parts.webhooks, id, reason);
      const webhook = await onRecord(parts, 'webhooks.disable')(asked, { id, reason }, work, ({ status }) => status);
      return { body: disabledReply(webhook) };
    },
  });
}

function accessRoutes(parts: HttpParts): Route[] {
  const { access, card } = parts;
  return [
    route({
      ...common,
      method: 'post',
      path: '/admin/keys/rotate',
      name: 'rotateTokenKeys',
      summary: 'Makes a new key that access tokens are signed with',
      body: ROTATE_BODY,
      reply: ROTATED_REPLY,
      async handle({ body: { revoke }, ...asked }) {
        const work = () => access.keys.rotate({ revoke });
        const wordsOf = ({ kid, revokedKids }: { kid: string; revokedKids: string[] }) => `new key ${kid}; ${revokedKids.length} revoked`;
        const rotated = await onRecord(parts, 'keys.rotate')(asked, { revoke: String(revoke) }, work, wordsOf);
        return { body: { success: true as const, ...rotated } };
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/admin/card-keys/rotate',
      name: 'rotateCardKeys',
      summary: 'Makes a new key that the agent card is signed with',
      description: `Other processes sign with it within a minute. Cards under earlier keys can be checked for ${CARD_KEY_RETIREMENT_DAYS} days more, unless they are revoked.`,
      body: ROTATE_CARD_BODY,
      bodyOptional: true,
      reply: CARD_KEY_REPLY,
      async handle({ body: { revoke }, ...asked }) {
        const work = () => card.rotate({ revoke });
        const wordsOf = ({ kid }: { kid: string }) => `new key ${kid}`;
        const rotated = await onRecord(parts, 'card-keys.rotate')(asked, { revoke: String(revoke) }, work, wordsOf);
        return { body: { success: true as const, ...rotated } };
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/admin/wallets/{wallet}/revoke',
      name: 'revokeWallet',
      summary: 'Ends all sessions of a wallet',
      params: z.object({ wallet }),
      reply: REVOKED_REPLY,
      async handle({ params, ...asked }) {
        const work = () => access.revokeWallet(params.wallet);
        const sessions = await onRecord(parts, 'wallets.revoke')(asked, params, work, (count) => `${count} sessions ended`);
        return { body: { success: true as const, wallet: params.wallet, sessions } };
      },
    }),
  ];
}

function auditRoute({ administration: { audit } }: HttpParts): Route {
  return route({
    ...common,
    path: '/admin/audit',
    name: 'listAuditEntries',
    summary: 'What the operator did, newest first',
    query: z.object({ limit: limit(500, 50) }),
    reply: AUDIT_REPLY,
    async handle({ query }) {
      const entries = (await audit.newest(query.limit)).map(entryReply);
      return { body: { success: true as const, entries, count: entries.length } };
    },
  });
}

function switchReply({ since, ...turn }: SwitchTurn, offBySettings: boolean): z.input<typeof WAGER_SWITCH_REPLY> {
  return { success: true, ...turn, since: since?.toISOString() ?? null, offBySettings };
}

/** Its owner is told of his own webhooks, the operator of anybody's. */
async function disableWebhook(webhooks: WebhookRegistry, id: string, reason: string): Promise<Webhook> {
  try {
    return await webhooks.disable(id, reason);
  } catch (error) {
    if (!isOracleError(error, 'NOT_FOUND')) throw error;
    throw new OracleError('NOT_FOUND', 'There is no webhook of this id', { field: 'id', cause: error });
  }
}

/** Without its URL, which may hold a secret of its owner's. */
function disabledReply({ _id, status, disabledAt, disabledReason }: Webhook): z.input<typeof DISABLED_REPLY> {
  return { success: true, id: _id, status, disabledAt: disabledAt?.toISOString() ?? null, disabledReason };
}

function entryReply({ _id, at, endedAt, ...entry }: AuditEntry): z.input<typeof AUDIT_REPLY>['entries'][number] {
  return { id: _id.toHexString(), ...entry, at: at.toISOString(), endedAt: endedAt?.toISOString() ?? null };
}
