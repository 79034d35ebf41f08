import { buildExampleView } from '../events/asyncapi.ts';
import { EVENT_KINDS, PUSHED_NAMES } from '../events/events.ts';
import { describeMessage } from '../events/webhooks/formats.ts';
import { RETRY_DELAYS_MS, RETRY_JITTER } from '../events/webhooks/queue.ts';
import { CLIENT_MESSAGES, CLOSE_CODES, SERVER_MESSAGES } from '../events/websocket/messages.ts';
import { CATALOGUE, OUT_OF_REACH } from '../verify/findings.ts';

/** The catalogue of checks as a Markdown table. */
export function renderCheckTable(): string {
  const rows = CATALOGUE.map(({ id, appliesTo, rule }) => `| \`${id}\` | ${appliesTo} | ${rule} |`);
  return ['| Check | About | What holds |', '| --- | --- | --- |', ...rows].join('\n');
}

/** What no check notices, as a Markdown list. */
export function renderOutOfReach(): string {
  return OUT_OF_REACH.map((text) => `- ${text}`).join('\n');
}

type TableMarker = 'chat-messages' | 'events' | 'server-messages' | 'client-messages' | 'close-codes' | 'retries';

export function buildEventTables(): Record<TableMarker, string> {
  return {
    events: formatTable(['Event', 'What it says', 'How often'], PUSHED_NAMES.map(toEventRow)),
    'server-messages': formatTable(['`type`', 'What it says', 'Fields of `data`'], toMessageRows(SERVER_MESSAGES)),
    'client-messages': formatTable(['`type`', 'What it does', 'Fields of `data`'], toMessageRows(CLIENT_MESSAGES)),
    'close-codes': formatTable(['Code', 'Why, and what to do'], toCloseCodeRows()),
    'chat-messages': formatChatMessages(),
    retries: formatTable(['Attempt', 'Comes after', 'So long after the first'], toRetryRows()),
  };
}

function toEventRow(type: (typeof PUSHED_NAMES)[number]): string[] {
  const { meaning, frequency } = EVENT_KINDS[type];
  return [formatCode(type), meaning, frequency];
}

function toMessageRows(kinds: typeof SERVER_MESSAGES | typeof CLIENT_MESSAGES): string[][] {
  return Object.entries(kinds).map(([type, { summary, schema }]) => {
    const data = 'unwrap' in schema.shape.data ? schema.shape.data.unwrap() : schema.shape.data;
    return [formatCode(type), summary, formatFields(data)];
  });
}

function toCloseCodeRows(): string[][] {
  return Object.values(CLOSE_CODES).map(({ code: number, meaning }) => [String(number), meaning]);
}

function toRetryRows(): string[][] {
  const first = ['1', 'the event', 'at once'];
  const others = RETRY_DELAYS_MS.map((ms, index) => {
    const soFar = RETRY_DELAYS_MS.slice(0, index + 1).reduce((sum, step) => sum + step, 0);
    return [String(index + 2), `${formatDuration(ms)}, and up to ${RETRY_JITTER * 100} % more`, formatDuration(soFar)];
  });
  return [first, ...others];
}

const EXAMPLE_OPTIONS = { publicUrl: 'https://oracle.example', chainId: 8453 };

/** The example of AsyncAPI, as a chat shows it. */
function formatChatMessages(): string {
  const event = buildExampleView('signal.new', 'premium', EXAMPLE_OPTIONS);
  const { title, fields, note, link } = describeMessage(event, EXAMPLE_OPTIONS.publicUrl);
  const lines = [title, ...fields.map(([label, value]) => `  ${label}: ${value}`), `  ${note}`, `  ${link.label}: ${link.url}`];
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Such as `2 h 35 min 5 s`. */
function formatDuration(ms: number): string {
  const parts = UNITS.map(([unit, size], index) => [Math.floor((index === 0 ? ms : ms % UNITS[index - 1]![1]) / size), unit] as const);
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

function formatFields({ shape }: { shape: object }): string {
  return Object.keys(shape).map(formatCode).join(', ');
}

const formatCode = (text: string) => `\`${text}\``;

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return lines.join('\n');
}
