import { PUSHED_NAMES } from '../event-names.ts';
import { SERVER_MESSAGES } from '../websocket/messages/message-schemas.ts';
import { type ClientMessageName, REPLIES } from './socket-messages.ts';

type ChannelName = 'socket' | 'webhook';

/** Operations of the service: `send` and `receive` are from its point of view. */
export function buildOperations() {
  return {
    sendEvents: buildSendOperation('socket', PUSHED_NAMES, {
      title: 'Send events',
      summary: 'Each event that the connection is subscribed to, once, in the order of their ids',
    }),
    sendControls: buildSendOperation('socket', Object.keys(SERVER_MESSAGES), {
      title: 'Send what concerns the connection',
      summary: 'What is no event: without an id',
    }),
    subscribe: buildReceiveOperation('subscribe', 'Take another subscription'),
    authenticate: buildReceiveOperation('authenticate', 'Take a fresh token'),
    ping: buildReceiveOperation('ping', 'Answer whether the connection lives'),
    deliverEvents: buildSendOperation('webhook', PUSHED_NAMES, {
      title: 'Deliver events',
      summary: 'Each event that the webhook is registered for, in the order of their ids, again until it is taken',
      bindings: POST_BINDINGS,
    }),
    testWebhook: buildSendOperation('webhook', ['ping'], {
      title: 'Test a webhook',
      summary: 'Once, when its owner asks for it',
      bindings: POST_BINDINGS,
    }),
  };
}

const POST_BINDINGS = { http: { method: 'POST', bindingVersion: '0.3.0' } };

function buildSendOperation(channel: ChannelName, names: readonly string[], description: object) {
  return { action: 'send', ...buildChannelRefs(channel, names), ...description };
}

function buildReceiveOperation(name: ClientMessageName, title: string) {
  const summary = `Answered with ${REPLIES[name].map((reply) => `\`${reply}\``).join(' or ')}`;
  return { action: 'receive', ...buildChannelRefs('socket', [name]), title, summary, reply: buildChannelRefs('socket', REPLIES[name]) };
}

function buildChannelRefs(channel: ChannelName, names: readonly string[]) {
  return {
    channel: { $ref: `#/channels/${channel}` },
    messages: names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  };
}
