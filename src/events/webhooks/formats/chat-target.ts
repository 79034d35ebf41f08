import { createHash } from 'node:crypto';
import { OracleError } from '../../../platform/errors.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { CHAT_FORMATS } from './chats/chat-formats.ts';
import type { ChatName, WebhookFormat } from './webhook-formats.ts';

/** A chat to which messages are posted. */
export interface ChatTarget {
  format: ChatName;
  /** Of formats that name a chat beside the URL; null otherwise. */
  chatId: string | null;
}

export interface WantedTarget {
  format: WebhookFormat;
  /** Checked by the rules for all targets. */
  url: string;
  chatId: string | null;
}

/** As it is stored. Any URL may have a credential in its path or query. */
export interface StoredTarget {
  /** Masked: its origin, and of a chat the last characters. */
  url: string;
  /** Encrypted, bound to the id of the webhook. */
  sealedUrl: string;
  /** Digest of URL and chat, equal for equal addresses; a credential within is too long to be found from it. */
  targetKey: string;
  chat?: ChatTarget;
}

/** Hosts and paths of chats, which take no event as it is. */
const CHAT_URLS: readonly [host: RegExp, path: RegExp, format: ChatName][] = [
  [/^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/, /^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+\/?$/, 'discord'],
  [/^hooks\.slack(?:-gov)?\.com$/, /^\/services\//, 'slack'],
  [/^api\.telegram\.org$/, /^\/bot/, 'telegram'],
];

/** The masked URL of a target and its parts to store. @throws OracleError INPUT_INVALID naming `url`, `format` or `chatId` */
export function toStoredTarget(webhookId: string, { format, url, chatId }: WantedTarget, box: SecretBox): StoredTarget {
  if (format === 'json') {
    const { href, origin } = new URL(url);
    requireNoChat(new URL(url));
    if (chatId !== null) throw invalidChatId('format json has no chat');
    return { url: `${origin}/***`, ...seal(webhookId, href, null, box) };
  }
  const { label, hasChatId, parseUrl, urlRule, getHint } = CHAT_FORMATS[format];
  const parsed = parseUrl(new URL(url));
  if (parsed === null) throw new OracleError('INPUT_INVALID', `The URL of format ${format} must ${urlRule}`, { field: 'url' });
  if (hasChatId && chatId === null) throw invalidChatId(`format ${format} needs the id of the ${label} chat`);
  if (!hasChatId && chatId !== null) throw invalidChatId(`the URL of format ${format} names the chat`);
  return { url: `${parsed.origin}/***${getHint(parsed)}`, ...seal(webhookId, parsed.href, chatId, box), chat: { format, chatId } };
}

function seal(webhookId: string, href: string, chatId: string | null, box: SecretBox): Pick<StoredTarget, 'sealedUrl' | 'targetKey'> {
  const targetKey = createHash('sha256')
    .update(JSON.stringify([href, chatId]))
    .digest('hex');
  return { sealedUrl: box.seal('webhook-url', webhookId, href), targetKey };
}

/** The URL to call. @throws OracleError CONFIG_INVALID if it is encrypted under another master secret */
export function openTargetUrl({ _id, sealedUrl }: Pick<StoredTarget, 'sealedUrl'> & { _id: string }, box: SecretBox): string {
  return box.open('webhook-url', _id, sealedUrl);
}

/** Filter of a webhook that still has this target. */
export function matchTarget({ targetKey }: Pick<StoredTarget, 'targetKey'>) {
  return { targetKey };
}

function requireNoChat({ hostname, pathname }: URL): void {
  const found = CHAT_URLS.find(([host, path]) => host.test(hostname) && path.test(pathname));
  if (found === undefined) return;
  const [, , format] = found;
  throw new OracleError('INPUT_INVALID', `This is the URL of a ${CHAT_FORMATS[format].label} chat, which takes no event as it is`, {
    field: 'format',
    suggestedAction: `Register it with "format": "${format}".`,
  });
}

function invalidChatId(rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `body field "chatId": ${rule}`, { field: 'chatId' });
}
