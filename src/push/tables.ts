import { EVENT_KINDS } from './channels.ts';
import { PUSHED_NAMES } from './event-names.ts';
import { PAYLOADS } from './events/payloads.ts';
import { JITTER, RETRY_STEPS_MS } from './webhooks/retry.ts';
import { CLOSE_CODES } from './websocket/close-codes.ts';
import { CLIENT_MESSAGES, SERVER_MESSAGES } from './websocket/messages.ts';

type Marker = 'events' | 'event-fields' | 'server-messages' | 'client-messages' | 'close-codes' | 'retries';

/** What docs/EVENTS.md has from the code, in Markdown, by the marker that each stands under. */
export function eventTables(): Record<Marker, string> {
  return {
    events: table(['Event', 'What it says', 'How often'], PUSHED_NAMES.map(eventRow)),
    'event-fields': PUSHED_NAMES.map((type) => `- ${code(type)}: ${fieldsOf(PAYLOADS[type])}`).join('\n'),
    'server-messages': table(['`type`', 'What it says', 'Fields of `data`'], messageRows(SERVER_MESSAGES)),
    'client-messages': table(['`type`', 'What it does', 'Fields of `data`'], messageRows(CLIENT_MESSAGES)),
    'close-codes': table(['Code', 'Why, and what to do'], closeRows()),
    retries: table(['Attempt', 'Comes after', 'So long after the first'], retryRows()),
  };
}

function eventRow(type: (typeof PUSHED_NAMES)[number]): string[] {
  const { meaning, frequency } = EVENT_KINDS[type];
  return [code(type), meaning, frequency];
}

function messageRows(kinds: typeof SERVER_MESSAGES | typeof CLIENT_MESSAGES): string[][] {
  return Object.entries(kinds).map(([type, { summary, schema }]) => {
    const data = 'unwrap' in schema.shape.data ? schema.shape.data.unwrap() : schema.shape.data;
    return [code(type), summary, fieldsOf(data)];
  });
}

function closeRows(): string[][] {
  return Object.values(CLOSE_CODES).map(({ code: number, meaning }) => [String(number), meaning]);
}

function retryRows(): string[][] {
  const first = ['1', 'the event', 'at once'];
  const others = RETRY_STEPS_MS.map((ms, index) => {
    const soFar = RETRY_STEPS_MS.slice(0, index + 1).reduce((sum, step) => sum + step, 0);
    return [String(index + 2), `${duration(ms)}, and up to ${JITTER * 100} % more`, duration(soFar)];
  });
  return [first, ...others];
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Such as `2 h 35 min 5 s`. */
function duration(ms: number): string {
  const parts = UNITS.map(([unit, size], index) => [Math.floor((index === 0 ? ms : ms % UNITS[index - 1]![1]) / size), unit] as const);
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

function fieldsOf({ shape }: { shape: object }): string {
  return Object.keys(shape).map(code).join(', ');
}

const code = (text: string) => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return lines.join('\n');
}
