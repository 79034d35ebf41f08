import type { Address } from 'viem';
import type { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { horizonName } from '../../forecast/model.ts';
import { horizonDaysOf } from '../../horizon-input.ts';
import { type HorizonFields, readHorizonChoice } from '../../push/horizon-choice.ts';
import type { Webhook } from '../../push/webhooks/owned.ts';
import type { WebhookRegistry } from '../../push/webhooks/registry.ts';
import { WEBHOOKS_PER_WALLET } from '../../push/webhooks/store.ts';
import type { Caller } from '../../record/caller.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import {
  CHANGE_BODY,
  REGISTER_BODY,
  REGISTERED_REPLY,
  WEBHOOK_DELETED_REPLY,
  WEBHOOK_ID,
  WEBHOOK_REPLY,
  WEBHOOKS_REPLY,
} from '../schemas/webhooks.ts';

type WebhookReply = z.input<typeof WEBHOOKS_REPLY>['webhooks'][number];

/** What the operations on webhooks have in common. */
export const OF_WEBHOOKS = { tag: 'webhooks', access: 'basic' } as const;

/** Where one of them is. */
export const WEBHOOK_PATH = '/api/svc/webhooks/{id}';

/** Interface, section 4.3: a caller's own callbacks. To look at and change a single one is beyond it. */
export function webhookRoutes(parts: HttpParts): Route[] {
  return [...listRoutes(parts), ...singleRoutes(parts)];
}

function listRoutes({ webhooks }: HttpParts): Route[] {
  return [
    route({
      ...OF_WEBHOOKS,
      path: '/api/svc/webhooks',
      name: 'listWebhooks',
      summary: "The caller's registered callbacks, without their secrets",
      reply: WEBHOOKS_REPLY,
      handle: async ({ caller }) => ({ body: listReply(await webhooks.list(walletOf(caller))) }),
    }),
    route({
      ...OF_WEBHOOKS,
      method: 'post',
      path: '/api/svc/webhooks/register',
      name: 'registerWebhook',
      status: 201,
      summary: 'Registers a callback, and tells its secret this once',
      description: `A wallet can have ${WEBHOOKS_PER_WALLET}; the same URL for the same events and horizons is refused.`,
      body: REGISTER_BODY,
      reply: REGISTERED_REPLY,
      errors: ['CONFLICT'],
      handle: async ({ body, caller }) => ({ body: await registered(webhooks, walletOf(caller), body) }),
    }),
  ];
}

function singleRoutes(parts: HttpParts): Route[] {
  const { webhooks } = parts;
  return [
    route({
      ...OF_WEBHOOKS,
      path: WEBHOOK_PATH,
      name: 'getWebhook',
      summary: "One of the caller's callbacks, without its secret",
      params: WEBHOOK_ID,
      reply: WEBHOOK_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params: { id }, caller }) => ({ body: ownReply(await webhooks.get(walletOf(caller), id)) }),
    }),
    changeRoute(parts),
    route({
      ...OF_WEBHOOKS,
      method: 'delete',
      path: WEBHOOK_PATH,
      name: 'deleteWebhook',
      summary: "Deletes one of the caller's callbacks, with its queue and its deliveries",
      params: WEBHOOK_ID,
      reply: WEBHOOK_DELETED_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params: { id }, caller }) => ({ body: await deleted(webhooks, walletOf(caller), id) }),
    }),
  ];
}

function changeRoute({ webhooks }: HttpParts): Route {
  return route({
    ...OF_WEBHOOKS,
    method: 'patch',
    path: WEBHOOK_PATH,
    name: 'changeWebhook',
    summary: "Changes what one of the caller's callbacks is called for, or where",
    description: 'What is left out stays. What waits in its queue stays there too, and goes to the new URL.',
    params: WEBHOOK_ID,
    body: CHANGE_BODY,
    reply: WEBHOOK_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT'],
    async handle({ params: { id }, body: { url, events, ...choice }, caller }) {
      const change = { url, events, horizons: daysOf(choice) };
      return { body: ownReply(await webhooks.change(walletOf(caller), id, change)) };
    },
  });
}

function listReply(webhooks: Webhook[]): z.input<typeof WEBHOOKS_REPLY> {
  return {
    success: true,
    webhooks: webhooks.map(webhookReply),
    count: webhooks.length,
    limit: WEBHOOKS_PER_WALLET,
  };
}

/** One webhook as its owner is answered. */
export function ownReply(webhook: Webhook): z.input<typeof WEBHOOK_REPLY> {
  return { success: true, ...webhookReply(webhook) };
}

async function registered(
  webhooks: WebhookRegistry,
  wallet: Address,
  { url, events, secret: wanted, ...choice }: z.output<typeof REGISTER_BODY>,
): Promise<z.input<typeof REGISTERED_REPLY>> {
  const { secret, ...webhook } = await webhooks.register(wallet, { url, events, secret: wanted, horizons: daysOf(choice) });
  return { ...ownReply(webhook), secret };
}

async function deleted(webhooks: WebhookRegistry, wallet: Address, id: string): Promise<z.input<typeof WEBHOOK_DELETED_REPLY>> {
  await webhooks.remove(wallet, id);
  return { success: true, id };
}

function webhookReply({ _id, ...webhook }: Webhook): WebhookReply {
  return {
    id: _id,
    ...webhook,
    horizons: webhook.horizons?.map(horizonName) ?? null,
    createdAt: webhook.createdAt.toISOString(),
    secretSetAt: webhook.secretSetAt.toISOString(),
    previousSecretUntil: webhook.previousSecretUntil?.toISOString() ?? null,
    suspendedAt: webhook.suspendedAt?.toISOString() ?? null,
    disabledAt: webhook.disabledAt?.toISOString() ?? null,
    failingSince: webhook.failingSince?.toISOString() ?? null,
  };
}

/** Days; null: all, undefined: none was chosen. */
function daysOf(fields: HorizonFields): number[] | null | undefined {
  const choice = readHorizonChoice(fields);
  return choice == null ? choice : choice.map(horizonDaysOf);
}

/** Whose webhooks: a caller who has only paid has none. */
export function walletOf({ wallet }: Caller): Address {
  if (wallet !== undefined) return wallet;
  throw new OracleError('UNAUTHENTICATED', 'This needs an access token', { field: 'Authorization' });
}
