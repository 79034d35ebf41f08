import { Message } from '@a2a-js/sdk';

/** What a task keeps of its messages: the newest, at least the last one. */
export const HISTORY_LIMITS = { messages: 40, bytes: 64 * 1_024 } as const;

/** Each message once, and no more than is kept. */
export function limitHistory(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  let bytes = 0;
  for (const message of removeRepeats(history).slice(-HISTORY_LIMITS.messages).reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(Message.toJSON(message)));
    if (kept.length > 0 && bytes > HISTORY_LIMITS.bytes) break;
    kept.unshift(message);
  }
  return kept;
}

/** The protocol's library notes a message again that the task was opened with. */
function removeRepeats(history: readonly Message[]): Message[] {
  return [...new Map(history.map((message) => [`${message.role} ${message.messageId}`, message])).values()];
}
