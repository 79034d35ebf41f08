import type { z } from 'zod';
import type { WebhookDeliveryDoc } from '../../../events/webhooks/delivery/delivery.ts';
import { DELIVERY_RETENTION_DAYS } from '../../../events/webhooks/delivery/delivery-queue.ts';
import { MAX_REPLAYED_EVENTS_PER_DAY, MAX_TESTS_PER_DAY } from '../../../events/webhooks/limits/daily-quota-store.ts';
import { REPLAY_CAUSE_PREFIX } from '../../../events/webhooks/on-demand/replay-events.ts';
import { MIN_TEST_INTERVAL_SECONDS } from '../../../events/webhooks/on-demand/test-webhook.ts';
import { PREVIOUS_SECRET_HOURS } from '../../../events/webhooks/signing/rotate-secret.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { type Route, route } from '../server/route.ts';
import { DELIVERIES_QUERY, DELIVERIES_REPLY, REPLAY_BODY, REPLAY_REPLY, TEST_REPLY } from './delivery-schemas.ts';
import { requireCallerWallet, toWebhookReply, WEBHOOK_PATH, WEBHOOK_ROUTE } from './routes.ts';
import { ROTATE_SECRET_BODY, ROTATED_SECRET_REPLY, WEBHOOK_ID, WEBHOOK_REPLY } from './schemas.ts';

const SINGLE_WEBHOOK_ROUTE = { ...WEBHOOK_ROUTE, params: WEBHOOK_ID } as const;

/** Secret rotation, test calls, replays and deliveries: additions to the interface. */
export function webhookCallRoutes(deps: Pick<HttpDeps, 'webhooks'>): Route[] {
  return [...stateRoutes(deps), testRoute(deps), replayRoute(deps), deliveriesRoute(deps)];
}

function stateRoutes({ webhooks }: Pick<HttpDeps, 'webhooks'>): Route[] {
  return [
    route(`POST ${WEBHOOK_PATH}/secret`, 'rotateWebhookSecret', {
      ...SINGLE_WEBHOOK_ROUTE,
      ownerOnly: true,
      summary: 'Sets a new secret and returns it once; the previous one also signs for a day',
      description:
        `For ${PREVIOUS_SECRET_HOURS} hours \`webhook-signature\` has a signature by each secret. A second rotation within that time revokes the oldest secret at ` +
        'once, for a leaked secret. Of two concurrent rotations one is rejected.',
      body: ROTATE_SECRET_BODY,
      bodyOptional: true,
      reply: ROTATED_SECRET_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ params: { id }, body, caller }) {
        const { secret, secretSetAt, previousSecretUntil } = await webhooks.rotateSecret(requireCallerWallet(caller), id, body.secret);
        const times = { secretSetAt: secretSetAt.toISOString(), previousSecretUntil: previousSecretUntil?.toISOString() ?? null };
        return { body: { success: true as const, id, secret, ...times } };
      },
    }),
    route(`POST ${WEBHOOK_PATH}/enable`, 'enableWebhook', {
      ...SINGLE_WEBHOOK_ROUTE,
      summary: 'Re-enables a webhook that its receiver or failures disabled',
      description:
        'Only later events are delivered; request missed ones with a replay. Idempotent on an active webhook; rejected where the operator disabled it.',
      reply: WEBHOOK_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ params: { id }, caller }) => ({ body: toWebhookReply(await webhooks.enable(requireCallerWallet(caller), id)) }),
    }),
  ];
}

function testRoute({ webhooks }: Pick<HttpDeps, 'webhooks'>): Route {
  return route(`POST ${WEBHOOK_PATH}/test`, 'testWebhook', {
    ...SINGLE_WEBHOOK_ROUTE,
    summary: 'Sends a signed `ping` now and returns the result',
    description:
      `Bypasses the queue, also for a disabled webhook, and does not change it. Takes at most 15 seconds; limited to one test per webhook in ${MIN_TEST_INTERVAL_SECONDS} seconds, ` +
      `${MAX_TESTS_PER_DAY} per wallet and UTC day, and a number per target host.`,
    reply: TEST_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT'],
    async handle({ params: { id }, caller }) {
      const { state, messageId, attempts } = await webhooks.test(requireCallerWallet(caller), id);
      const { status, ms, reason } = attempts[0]!;
      return { body: { success: true as const, delivered: state === 'DELIVERED', status, ms, reason, messageId } };
    },
  });
}

function replayRoute({ webhooks }: Pick<HttpDeps, 'webhooks'>): Route {
  return route(`POST ${WEBHOOK_PATH}/replay`, 'replayToWebhook', {
    ...SINGLE_WEBHOOK_ROUTE,
    status: 202,
    summary: 'Resends subscribed events: one, or all since an id or a time',
    description:
      'Exactly one of `eventId`, `sinceId` and `sinceTime` (or `since`, its older name). Events are queued after pending ones, in id order, under the same `webhook-id`. ' +
      `Rejected while another replay to the webhook is queued, and beyond ${MAX_REPLAYED_EVENTS_PER_DAY} replayed events per wallet and UTC day.`,
    body: REPLAY_BODY,
    reply: REPLAY_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT'],
    async handle({ params: { id }, body: { eventId, sinceId, since, sinceTime, until }, caller }) {
      if (since !== undefined && sinceTime !== undefined) {
        throw new OracleError('INPUT_INVALID', 'body field "sinceTime": cannot be combined with "since", its older name', {
          field: 'sinceTime',
          suggestedAction: 'Send one of them.',
        });
      }
      const times = { since: parseInstant(sinceTime ?? since), until: parseInstant(until) };
      return {
        body: { success: true as const, ...(await webhooks.replay(requireCallerWallet(caller), id, { eventId, sinceId, ...times })) },
      };
    },
  });
}

function deliveriesRoute({ webhooks }: Pick<HttpDeps, 'webhooks'>): Route {
  return route(`GET ${WEBHOOK_PATH}/deliveries`, 'listWebhookDeliveries', {
    ...SINGLE_WEBHOOK_ROUTE,
    summary: 'Deliveries of a webhook, sent and pending, newest first, with the responses',
    description: `Kept for ${DELIVERY_RETENTION_DAYS.live} days, replays and tests for ${DELIVERY_RETENTION_DAYS.asked}. \`nextBefore\` is \`before\` of the next page.`,
    query: DELIVERIES_QUERY,
    reply: DELIVERIES_REPLY,
    errors: ['NOT_FOUND'],
    async handle({ params: { id }, query: { limit, ...query }, caller }) {
      // One more than the page holds shows whether another page follows.
      const found = await webhooks.listDeliveries(requireCallerWallet(caller), id, { ...query, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const nextBefore = found.length > limit ? shown.at(-1)!.position : null;
      return { body: { success: true as const, deliveries: shown.map(toDeliveryReply), count: shown.length, nextBefore } };
    },
  });
}

type DeliveryReply = z.input<typeof DELIVERIES_REPLY>['deliveries'][number];

function toDeliveryReply(delivery: WebhookDeliveryDoc): DeliveryReply {
  const { position, type, eventId, messageId, state, attempts, nextAttemptAt, createdAt, finishedAt } = delivery;
  return {
    position,
    type,
    eventId,
    messageId,
    state,
    ...toDeliveryCause(delivery),
    attempts: attempts.map(({ at, status, ms, reason }) => ({ at: at.toISOString(), status, ms, reason })),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

function toDeliveryCause({ type, cause }: WebhookDeliveryDoc): Pick<DeliveryReply, 'cause' | 'replayId'> {
  if (cause.startsWith(REPLAY_CAUSE_PREFIX)) return { cause: 'replay', replayId: cause.slice(REPLAY_CAUSE_PREFIX.length) };
  return { cause: type === 'ping' ? 'ping' : 'live', replayId: null };
}

function parseInstant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
