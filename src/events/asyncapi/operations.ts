import { PUSHED_NAMES } from '../event-names.ts';
import { SERVER_MESSAGES } from '../websocket/messages/message-schemas.ts';
import { type ClientMessageName, REPLIES } from './socket-messages.ts';

type ChannelName = 'socket' | 'webhook';

export function buildOperations() {
  return {
    sendEvents: buildSendOperation('socket', PUSHED_NAMES, {
      title: 'Send events',
      summary: 'Each subscribed event once, in order of id',
    }),
    sendControls: buildSendOperation('socket', Object.keys(SERVER_MESSAGES), {
      title: 'Send what concerns the connection',
      summary: 'Messages about the connection, without an id',
    }),
    subscribe: buildReceiveOperation('subscribe', 'Take another subscription'),
    authenticate: buildReceiveOperation('authenticate', 'Take a fresh token'),
    ping: buildReceiveOperation('ping', 'Answer whether the connection lives'),
    deliverEvents: buildSendOperation('webhook', PUSHED_NAMES, {
      title: 'Deliver events',
      summary: 'Each event of the registration, in order of id, retried until acknowledged',
      bindings: POST_BINDINGS,
    }),
    testWebhook: buildSendOperation('webhook', ['ping'], {
      title: 'Test a webhook',
      summary: 'Once per test requested by the owner',
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
