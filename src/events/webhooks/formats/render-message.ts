import type { WebhookDoc } from '../registry/webhook.ts';
import { CHAT_FORMATS } from './chats/chat-formats.ts';
import { type DeliveredMessage, describeMessage } from './describe-event.ts';

/** The body of a delivery, whose bytes are signed: the message itself, or as a chat takes it. @param publicUrl for links */
export function renderMessage({ chat }: Pick<WebhookDoc, 'chat'>, message: DeliveredMessage, publicUrl: string): string {
  if (chat === undefined) return JSON.stringify(message);
  const { format, chatId } = chat;
  return JSON.stringify(CHAT_FORMATS[format].render(describeMessage(message, publicUrl), { chatId }));
}
