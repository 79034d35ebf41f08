import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ChatName } from '../../../src/events/webhooks/formats.ts';
import { answering } from './receiver.ts';

export interface ChatServer {
  /** To register. */
  url: string;
  /** What the URL is not shown with. */
  token: string;
  chatId: string | null;
  /** Bodies that were accepted, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  posted: any[];
  /** Paths and headers of all posts. */
  asked: Pick<IncomingMessage, 'url' | 'headers'>[];
  /** Raw bodies of all posts. */
  bodies: string[];
  /** Answers the next posts so, each once. */
  refuse(...answers: Refusal[]): void;
  close(): Promise<void>;
}

export interface Refusal {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

const TOKENS = {
  discord: 'dNqZ3x-8mK1_vWcTq0aYpRzLh5sJtEbUoGfXi9n2',
  slack: 'pQ7wXbR2kLmN9vTzYc4sDfGh',
  telegram: 'AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
} as const satisfies Record<ChatName, string>;

const PATHS = {
  discord: [`/api/webhooks/1234567890123/${TOKENS.discord}`, `/api/v10/webhooks/1234567890123/${TOKENS.discord}`],
  slack: [`/services/T0AAAAAAA/B0BBBBBBB/${TOKENS.slack}`, `/services/T0AAAAAAA/B0BBBBBBB/${TOKENS.slack}`],
  telegram: [`/bot110201543:${TOKENS.telegram}/sendMessage`, `/bot110201543:${TOKENS.telegram}/sendMessage`],
} as const satisfies Record<ChatName, readonly [registered: string, called: string]>;

/** The documented answers of each chat to a body that it accepts. */
const ACCEPT: Record<ChatName, (response: ServerResponse, body: Record<string, unknown>) => void> = {
  discord: (response) => response.writeHead(204).end(),
  slack: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('ok'),
  telegram: (response, { chat_id }) => {
    const result = { message_id: 7, date: 1_773_000_000, chat: { id: chat_id } };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ok: true, result }));
  },
};

/** Why the chat would answer 400. */
const CHECKS: Record<ChatName, (body: Record<string, unknown>) => boolean> = {
  discord: ({ content, embeds }) => typeof content === 'string' && content !== '' && Array.isArray(embeds),
  slack: ({ text }) => typeof text === 'string' && text !== '',
  telegram: ({ chat_id, text }) => typeof chat_id === 'string' && typeof text === 'string' && text !== '',
};

/** A chat on this machine: answers as Discord, Slack and the Bot API of Telegram document it. */
export async function startChat(format: ChatName): Promise<ChatServer> {
  const refusals: Refusal[] = [];
  const [registered, called] = PATHS[format];
  const chat = { posted: [] as unknown[], asked: [] as ChatServer['asked'], bodies: [] as string[] };
  const { port, close } = await answering(async (request, response) => {
    const text = (await request.setEncoding('utf8').toArray()).join('');
    chat.asked.push({ url: request.url!, headers: request.headers });
    chat.bodies.push(text);
    const refusal = refusals.shift() ?? (request.url === called ? undefined : { status: 404 });
    if (refusal !== undefined) return void response.writeHead(refusal.status, refusal.headers).end(JSON.stringify(refusal.body ?? {}));
    const body = JSON.parse(text) as Record<string, unknown>;
    if (!CHECKS[format](body)) return void response.writeHead(400).end();
    chat.posted.push(body);
    ACCEPT[format](response, body);
  });
  const chatId = format === 'telegram' ? '-1001234567890' : null;
  const url = `http://127.0.0.1:${port}${registered}`;
  return { ...chat, url, token: TOKENS[format], chatId, close, refuse: (...answers) => void refusals.push(...answers) };
}
