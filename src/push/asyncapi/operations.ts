import { PUSHED_NAMES } from '../event-names.ts';
import { SERVER_MESSAGES } from '../websocket/messages.ts';
import { type ClientMessageName, REPLIES } from './socket-messages.ts';

type ChannelName = 'socket' | 'webhook';

/** What the service does at its channels: `send` is what it sends, `receive` what it takes. */
export function operationsOf() {
  return {
    sendEvents: {
      action: 'send',
      ...at('socket', PUSHED_NAMES),
      title: 'Send events',
      summary: 'Each event that the connection is subscribed to, once, in the order of their ids',
    },
    sendControls: {
      action: 'send',
      ...at('socket', Object.keys(SERVER_MESSAGES)),
      title: 'Send what concerns the connection',
      summary: 'What is no event: without an id',
    },
    subscribe: received('subscribe', 'Take another subscription'),
    authenticate: received('authenticate', 'Take a fresh token'),
    ping: received('ping', 'Answer whether the connection lives'),
    deliverEvents: {
      action: 'send',
      ...at('webhook', PUSHED_NAMES),
      title: 'Deliver events',
      summary: 'Each event that the webhook is registered for, in the order of their ids, again until it is taken',
      bindings: POSTED,
    },
    testWebhook: {
      action: 'send',
      ...at('webhook', ['ping']),
      title: 'Test a webhook',
      summary: 'Once, when its owner asks for it',
      bindings: POSTED,
    },
  };
}

const POSTED = { http: { method: 'POST', bindingVersion: '0.3.0' } };

function received(name: ClientMessageName, title: string) {
  const summary = `Answered with ${REPLIES[name].map((reply) => `\`${reply}\``).join(' or ')}`;
  return { action: 'receive', ...at('socket', [name]), title, summary, reply: at('socket', REPLIES[name]) };
}

function at(channel: ChannelName, names: readonly string[]) {
  return {
    channel: { $ref: `#/channels/${channel}` },
    messages: names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  };
}
