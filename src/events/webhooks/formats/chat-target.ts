import { createHash } from 'node:crypto';
import { OracleError } from '../../../platform/errors.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { CHAT_FORMATS } from './chats/chat-formats.ts';
import type { ChatName, WebhookFormat } from './webhook-formats.ts';

/** A chat to which messages are posted. Its URL is a credential: stored encrypted, and shown masked. */
export interface ChatTarget {
  format: ChatName;
  /** Encrypted, bound to the id of the webhook. */
  sealedUrl: string;
  /** Digest of URL and chat, equal for equal addresses; the credential within is too long to be found from it. */
  key: string;
  /** Of formats that name a chat beside the URL; null otherwise. */
  chatId: string | null;
}

export interface WantedTarget {
  format: WebhookFormat;
  /** Checked by the rules for all targets. */
  url: string;
  chatId: string | null;
}

/** As it is stored: `url` is the masked one of a chat. */
export interface StoredTarget {
  url: string;
  chat?: ChatTarget;
}

/** Hosts and paths of chats, whose credential would be stored and shown if they were called as another receiver. */
const CHAT_URLS: readonly [host: RegExp, path: RegExp, format: ChatName][] = [
  [/^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/, /^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+\/?$/, 'discord'],
  [/^hooks\.slack(?:-gov)?\.com$/, /^\/services\//, 'slack'],
  [/^api\.telegram\.org$/, /^\/bot/, 'telegram'],
];

/** The masked URL of a target and its parts to store. @throws OracleError INPUT_INVALID naming `url`, `format` or `chatId` */
export function toStoredTarget(webhookId: string, { format, url, chatId }: WantedTarget, box: SecretBox): StoredTarget {
  if (format === 'json') {
    requireNoChat(new URL(url));
    if (chatId !== null) throw invalidChatId('format json has no chat');
    return { url };
  }
  const { label, hasChatId, parseUrl, urlRule, getHint } = CHAT_FORMATS[format];
  const parsed = parseUrl(new URL(url));
  if (parsed === null) throw new OracleError('INPUT_INVALID', `The URL of format ${format} must ${urlRule}`, { field: 'url' });
  if (hasChatId && chatId === null) throw invalidChatId(`format ${format} needs the id of the ${label} chat`);
  if (!hasChatId && chatId !== null) throw invalidChatId(`the URL of format ${format} names the chat`);
  const key = createHash('sha256')
    .update(JSON.stringify([parsed.href, chatId]))
    .digest('hex');
  const sealedUrl = box.seal('webhook-url', webhookId, parsed.href);
  return { url: `${parsed.origin}/***${getHint(parsed)}`, chat: { format, sealedUrl, key, chatId } };
}

/** The URL to call. @throws OracleError CONFIG_INVALID if it is encrypted under another master secret */
export function openTargetUrl({ _id, url, chat }: StoredTarget & { _id: string }, box: SecretBox): string {
  return chat === undefined ? url : box.open('webhook-url', _id, chat.sealedUrl);
}

/** Filter of a webhook that still has this target. */
export function matchTarget({ url, chat }: StoredTarget) {
  return { url, 'chat.key': chat?.key ?? null };
}

function requireNoChat({ hostname, pathname }: URL): void {
  const found = CHAT_URLS.find(([host, path]) => host.test(hostname) && path.test(pathname));
  if (found === undefined) return;
  const [, , format] = found;
  throw new OracleError('INPUT_INVALID', `This is the URL of a ${CHAT_FORMATS[format].label} chat, which takes no event as it is`, {
    field: 'format',
    suggestedAction: `Register it with "format": "${format}"; the URL is then stored encrypted.`,
  });
}

function invalidChatId(rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `body field "chatId": ${rule}`, { field: 'chatId' });
}
