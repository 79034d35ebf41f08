import type { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { REPLAYED_A_DAY, TESTS_A_DAY } from '../../push/webhooks/daily-use.ts';
import type { DeliveryDoc } from '../../push/webhooks/delivery.ts';
import { DELIVERIES_KEPT_DAYS } from '../../push/webhooks/queue.ts';
import { REPLAY_CAUSE } from '../../push/webhooks/replay.ts';
import { BOTH_SIGN_HOURS } from '../../push/webhooks/rotation.ts';
import { TEST_REST_SECONDS } from '../../push/webhooks/test-call.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { DELIVERIES_QUERY, DELIVERIES_REPLY, REPLAY_BODY, REPLAY_REPLY, TEST_REPLY } from '../schemas/webhook-deliveries.ts';
import { ROTATE_SECRET_BODY, ROTATED_SECRET_REPLY, WEBHOOK_ID, WEBHOOK_REPLY } from '../schemas/webhooks.ts';
import { OF_WEBHOOKS, ownReply, WEBHOOK_PATH, walletOf } from './webhooks.ts';

const COMMON = { ...OF_WEBHOOKS, params: WEBHOOK_ID } as const;

/** How a webhook is called: secrets, tests, what was sent and what is to be sent again. Beyond the interface. */
export function webhookCallRoutes(parts: HttpParts): Route[] {
  return [...stateRoutes(parts), testRoute(parts), replayRoute(parts), deliveriesRoute(parts)];
}

function stateRoutes({ webhooks }: HttpParts): Route[] {
  return [
    route({
      ...COMMON,
      method: 'post',
      path: `${WEBHOOK_PATH}/secret`,
      name: 'rotateWebhookSecret',
      summary: 'Sets a new secret, and tells it this once; the one before signs too for a day',
      description:
        `For ${BOTH_SIGN_HOURS} hours \`webhook-signature\` has a signature by each of the two. Another change within that time ends the oldest at ` +
        'once: that is how a secret that became known is got rid of. Of two changes at the same moment one is refused.',
      body: ROTATE_SECRET_BODY,
      bodyOptional: true,
      reply: ROTATED_SECRET_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ params: { id }, body, caller }) {
        const { secret, secretSetAt, previousSecretUntil } = await webhooks.rotate(walletOf(caller), id, body.secret);
        const times = { secretSetAt: secretSetAt.toISOString(), previousSecretUntil: previousSecretUntil?.toISOString() ?? null };
        return { body: { success: true as const, id, secret, ...times } };
      },
    }),
    route({
      ...COMMON,
      method: 'post',
      path: `${WEBHOOK_PATH}/enable`,
      name: 'enableWebhook',
      summary: 'Lets a callback be called again after its receiver or failures have ended that',
      description:
        'It is called for what happens from now on; what was missed is asked for with a replay. One that is active stays as it is; one that the operator has ended is refused.',
      reply: WEBHOOK_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ params: { id }, caller }) => ({ body: ownReply(await webhooks.enable(walletOf(caller), id)) }),
    }),
  ];
}

function testRoute({ webhooks }: HttpParts): Route {
  return route({
    ...COMMON,
    method: 'post',
    path: `${WEBHOOK_PATH}/test`,
    name: 'testWebhook',
    summary: 'Calls a callback now with a signed `ping`, and tells how that went',
    description:
      `The call goes past the queue, also to a disabled callback, and changes nothing of it. It takes 15 seconds at most; a callback is tested once in ${TEST_REST_SECONDS} seconds, ` +
      `and those of a wallet ${TESTS_A_DAY} times in a UTC day; a host gets a bounded number of tests, whoever asks for them.`,
    reply: TEST_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT'],
    async handle({ params: { id }, caller }) {
      const { state, messageId, attempts } = await webhooks.test(walletOf(caller), id);
      const { status, ms, reason } = attempts[0]!;
      return { body: { success: true as const, delivered: state === 'DELIVERED', status, ms, reason, messageId } };
    },
  });
}

function replayRoute({ webhooks }: HttpParts): Route {
  return route({
    ...COMMON,
    method: 'post',
    path: `${WEBHOOK_PATH}/replay`,
    name: 'replayToWebhook',
    status: 202,
    summary: 'Sends events again that the callback is registered for: one of them, or all since an id or a time',
    description:
      'Exactly one of `eventId`, `sinceId` and `sinceTime` (or `since`, its older name). They are queued behind what waits, in the order of their ids, and sent under the same `webhook-id` as before. ' +
      `While one replay to a callback waits in its queue, another one is refused, and so is what is beyond ${REPLAYED_A_DAY} events of all callbacks of a wallet in a UTC day.`,
    body: REPLAY_BODY,
    reply: REPLAY_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT'],
    async handle({ params: { id }, body: { eventId, sinceId, since, sinceTime, until }, caller }) {
      if (since !== undefined && sinceTime !== undefined) throw twoStarts();
      const times = { since: instantOf(sinceTime ?? since), until: instantOf(until) };
      return { body: { success: true as const, ...(await webhooks.replay(walletOf(caller), id, { eventId, sinceId, ...times })) } };
    },
  });
}

function deliveriesRoute({ webhooks }: HttpParts): Route {
  return route({
    ...COMMON,
    path: `${WEBHOOK_PATH}/deliveries`,
    name: 'listWebhookDeliveries',
    summary: 'What was sent to a callback and what waits, newest first, each with the answers of the receiver',
    description: `Kept for ${DELIVERIES_KEPT_DAYS.live} days, replays and tests for ${DELIVERIES_KEPT_DAYS.asked}. \`nextBefore\` of a page is \`before\` of the next one.`,
    query: DELIVERIES_QUERY,
    reply: DELIVERIES_REPLY,
    errors: ['NOT_FOUND'],
    async handle({ params: { id }, query: { limit, ...query }, caller }) {
      // One more than is told: whether there is another page.
      const found = await webhooks.deliveries(walletOf(caller), id, { ...query, limit: limit + 1 });
      const told = found.slice(0, limit);
      const nextBefore = found.length > limit ? told.at(-1)!.position : null;
      return { body: { success: true as const, deliveries: told.map(deliveryReply), count: told.length, nextBefore } };
    },
  });
}

type DeliveryReply = z.input<typeof DELIVERIES_REPLY>['deliveries'][number];

function deliveryReply(delivery: DeliveryDoc): DeliveryReply {
  const { position, type, eventId, messageId, state, attempts, nextAttemptAt, createdAt, finishedAt } = delivery;
  return {
    ...{ position, type, eventId, messageId, state },
    ...causeOf(delivery),
    attempts: attempts.map(({ at, status, ms, reason }) => ({ at: at.toISOString(), status, ms, reason })),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

function causeOf({ type, cause }: DeliveryDoc): Pick<DeliveryReply, 'cause' | 'replayId'> {
  if (cause.startsWith(REPLAY_CAUSE)) return { cause: 'replay', replayId: cause.slice(REPLAY_CAUSE.length) };
  return { cause: type === 'ping' ? 'ping' : 'live', replayId: null };
}

function instantOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function twoStarts(): OracleError {
  return new OracleError('INPUT_INVALID', 'body field "sinceTime": stands beside "since", which means the same', {
    field: 'sinceTime',
    suggestedAction: 'Send one of them.',
  });
}
