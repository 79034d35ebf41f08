import type { Address } from 'viem';
import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { pushChannels } from '../../push/channels.ts';
import type { Webhook, WebhookRegistry } from '../../push/webhooks/registry.ts';
import { WEBHOOKS_PER_WALLET } from '../../push/webhooks/store.ts';
import type { Caller } from '../../record/caller.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { REGISTER_BODY, REGISTERED_REPLY, WEBHOOK_DELETED_REPLY, WEBHOOKS_REPLY } from '../schemas/webhooks.ts';

type WebhookReply = z.input<typeof WEBHOOKS_REPLY>['webhooks'][number];

/** Interface, section 4.3: a caller's own callbacks. */
export function webhookRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/webhooks',
      name: 'listWebhooks',
      tag: 'webhooks',
      access: 'basic',
      summary: "The caller's registered callbacks, without their secrets",
      reply: WEBHOOKS_REPLY,
      handle: async ({ caller }) => ({ body: listReply(await parts.webhooks.list(walletOf(caller))) }),
    }),
    route({
      method: 'post',
      path: '/api/svc/webhooks/register',
      name: 'registerWebhook',
      tag: 'webhooks',
      access: 'basic',
      status: 201,
      summary: 'Registers a callback, and tells its secret this once',
      description: `A wallet can have ${WEBHOOKS_PER_WALLET}; the same URL for the same events and horizons is refused.`,
      body: REGISTER_BODY,
      reply: REGISTERED_REPLY,
      errors: ['CONFLICT'],
      handle: async ({ body, caller }) => ({ body: await registered(parts.webhooks, walletOf(caller), body) }),
    }),
    route({
      method: 'delete',
      path: '/api/svc/webhooks/{id}',
      name: 'deleteWebhook',
      tag: 'webhooks',
      access: 'basic',
      summary: "Deletes one of the caller's callbacks",
      params: z.object({ id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Id of a webhook of your own') }),
      reply: WEBHOOK_DELETED_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params: { id }, caller }) => ({ body: await deleted(parts.webhooks, walletOf(caller), id) }),
    }),
  ];
}

function listReply(webhooks: Webhook[]): z.input<typeof WEBHOOKS_REPLY> {
  return {
    success: true,
    webhooks: webhooks.map(webhookReply),
    count: webhooks.length,
    limit: WEBHOOKS_PER_WALLET,
    delivering: pushChannels.webhooks,
  };
}

async function registered(
  webhooks: WebhookRegistry,
  wallet: Address,
  body: z.output<typeof REGISTER_BODY>,
): Promise<z.input<typeof REGISTERED_REPLY>> {
  const horizons = body.horizons?.map((name) => Number.parseInt(name, 10));
  const { secret, ...webhook } = await webhooks.register(wallet, { ...body, horizons });
  return { success: true, ...webhookReply(webhook), secret, delivering: pushChannels.webhooks };
}

async function deleted(webhooks: WebhookRegistry, wallet: Address, id: string): Promise<z.input<typeof WEBHOOK_DELETED_REPLY>> {
  await webhooks.remove(wallet, id);
  return { success: true, id };
}

function webhookReply({ _id, horizons, createdAt, secretSetAt, disabledAt, failingSince, ...webhook }: Webhook): WebhookReply {
  return {
    id: _id,
    ...webhook,
    horizons: horizons?.map((days) => `${days}d` as NonNullable<WebhookReply['horizons']>[number]) ?? null,
    createdAt: createdAt.toISOString(),
    secretSetAt: secretSetAt.toISOString(),
    disabledAt: disabledAt?.toISOString() ?? null,
    failingSince: failingSince?.toISOString() ?? null,
  };
}

/** Whose webhooks: a caller who has only paid has none. */
function walletOf({ wallet }: Caller): Address {
  if (wallet !== undefined) return wallet;
  throw new OracleError('UNAUTHENTICATED', 'This needs an access token', { field: 'Authorization' });
}
