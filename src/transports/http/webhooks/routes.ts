import type { Address } from 'viem';
import type { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import { type HorizonFields, parseHorizonChoice } from '../../../events/horizon-choice.ts';
import { MAX_WEBHOOKS_PER_WALLET } from '../../../events/webhooks/registry/webhook-store.ts';
import type { WebhookView } from '../../../events/webhooks/registry/webhook-view.ts';
import { parseHorizonDays } from '../../../forecast/horizon-input.ts';
import { formatHorizonName } from '../../../forecast/model.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { type Route, route } from '../server/route.ts';
import * as schemas from './schemas.ts';

type WebhookReply = z.input<typeof schemas.WEBHOOKS_REPLY>['webhooks'][number];

export const WEBHOOK_ROUTE = { tag: 'webhooks', access: 'basic' } as const;

export const WEBHOOK_PATH = '/api/svc/webhooks/{id}';

/** Interface, section 4.3; `get` and `change` are additions. */
export function webhookRoutes(deps: Pick<HttpDeps, 'webhooks'>): Route[] {
  return [...listRoutes(deps), ...singleRoutes(deps)];
}

function listRoutes({ webhooks }: Pick<HttpDeps, 'webhooks'>): Route[] {
  return [
    route('GET /api/svc/webhooks', 'listWebhooks', {
      ...WEBHOOK_ROUTE,
      summary: 'Webhooks of the caller, without secrets',
      reply: schemas.WEBHOOKS_REPLY,
      async handle({ caller }) {
        const listed = (await webhooks.list(requireCallerWallet(caller))).map(toWebhookMembers);
        const limit: typeof MAX_WEBHOOKS_PER_WALLET = MAX_WEBHOOKS_PER_WALLET;
        return { body: { success: true as const, webhooks: listed, count: listed.length, limit } };
      },
    }),
    route('POST /api/svc/webhooks/register', 'registerWebhook', {
      ...WEBHOOK_ROUTE,
      ownerOnly: true,
      status: 201,
      summary: 'Registers a webhook and returns its secret once',
      description: `At most ${MAX_WEBHOOKS_PER_WALLET} per wallet; the same URL with the same events and horizons is rejected. Format discord, slack or telegram posts a text to that chat.`,
      body: schemas.REGISTER_BODY,
      reply: schemas.REGISTERED_REPLY,
      errors: ['CONFLICT'],
      async handle({ body: { url, format, chatId, events, secret: wanted, ...choice }, caller }) {
        const registration = { url, format, chatId, events, secret: wanted, horizons: getHorizonDays(choice) };
        const { secret, ...webhook } = await webhooks.register(requireCallerWallet(caller), registration);
        return { body: { ...toWebhookReply(webhook), secret } };
      },
    }),
  ];
}

function singleRoutes(deps: Pick<HttpDeps, 'webhooks'>): Route[] {
  const { webhooks } = deps;
  return [
    route(`GET ${WEBHOOK_PATH}`, 'getWebhook', {
      ...WEBHOOK_ROUTE,
      summary: 'One webhook of the caller, without its secret',
      params: schemas.WEBHOOK_ID,
      reply: schemas.WEBHOOK_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params: { id }, caller }) => ({ body: toWebhookReply(await webhooks.get(requireCallerWallet(caller), id)) }),
    }),
    changeRoute(deps),
    route(`DELETE ${WEBHOOK_PATH}`, 'deleteWebhook', {
      ...WEBHOOK_ROUTE,
      ownerOnly: true,
      summary: 'Deletes a webhook with its queue and deliveries',
      params: schemas.WEBHOOK_ID,
      reply: schemas.WEBHOOK_DELETED_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, caller }) {
        await webhooks.remove(requireCallerWallet(caller), id);
        return { body: { success: true as const, id } };
      },
    }),
  ];
}

function changeRoute({ webhooks }: Pick<HttpDeps, 'webhooks'>): Route {
  return route(`PATCH ${WEBHOOK_PATH}`, 'changeWebhook', {
    ...WEBHOOK_ROUTE,
    ownerOnly: true,
    summary: 'Changes events, horizons or URL of a webhook',
    description: 'Omitted fields stay, and the format does. Queued deliveries go to the new URL.',
    params: schemas.WEBHOOK_ID,
    body: schemas.CHANGE_BODY,
    reply: schemas.WEBHOOK_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT'],
    async handle({ params: { id }, body: { url, chatId, events, ...choice }, caller }) {
      const change = { url, chatId, events, horizons: getHorizonDays(choice) };
      return { body: toWebhookReply(await webhooks.change(requireCallerWallet(caller), id, change)) };
    },
  });
}

export function toWebhookReply(webhook: WebhookView): z.input<typeof schemas.WEBHOOK_REPLY> {
  return { success: true, ...toWebhookMembers(webhook) };
}

function toWebhookMembers({ _id, ...webhook }: WebhookView): WebhookReply {
  return {
    id: _id,
    ...webhook,
    horizons: webhook.horizons?.map(formatHorizonName) ?? null,
    createdAt: webhook.createdAt.toISOString(),
    secretSetAt: webhook.secretSetAt.toISOString(),
    previousSecretUntil: webhook.previousSecretUntil?.toISOString() ?? null,
    suspendedAt: webhook.suspendedAt?.toISOString() ?? null,
    disabledAt: webhook.disabledAt?.toISOString() ?? null,
    failingSince: webhook.failingSince?.toISOString() ?? null,
  };
}

/** Null: all horizons; undefined: not specified. */
function getHorizonDays(fields: HorizonFields): number[] | null | undefined {
  const choice = parseHorizonChoice(fields);
  return choice == null ? choice : choice.map(parseHorizonDays);
}

/** A caller that has paid without a token has no wallet, and no webhooks. */
export function requireCallerWallet({ wallet }: Caller): Address {
  if (wallet !== undefined) return wallet;
  throw new OracleError('UNAUTHENTICATED', 'An access token is required', { field: 'Authorization' });
}
