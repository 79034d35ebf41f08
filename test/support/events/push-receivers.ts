import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { answering } from '../webhooks/receiver.ts';

/** One call that came in. */
export interface WebhookCall {
  /** `webhook-id`. */
  messageId: string;
  /** Of the event. */
  id: number;
  /** What was answered; null while it is not, and where the caller had gone. */
  status: number | null;
}

export interface WebhookReceiver {
  url: string;
  secret: string;
  readonly calls: readonly WebhookCall[];
  /** What did not verify under the standard. */
  readonly forged: readonly string[];
  close(): Promise<void>;
}

export interface ReceiverManners {
  /** How long it thinks. */
  ms?: number;
  /** Which calls get 500, counted from 1. */
  fails?(call: number): boolean;
  /** What becomes of the first call, which is never answered. */
  firstCall?(): void;
}

/** A receiver that checks every call with `standardwebhooks`. */
export async function webhookReceiver(secret: string, { ms = 0, fails, firstCall }: ReceiverManners = {}): Promise<WebhookReceiver> {
  const [calls, forged]: [WebhookCall[], string[]] = [[], []];
  const verifier = new Webhook(secret);
  const server = await answering(async (request, response) => {
    const body = await text(request).catch(() => null);
    // Its caller was killed.
    if (body === null) return;
    const call = read(verifier, body, request.headers, forged);
    calls.push(call);
    if (calls.length === 1 && firstCall !== undefined) return firstCall();
    const status = fails?.(calls.length) ? 500 : 204;
    if (ms > 0) await delay(ms);
    response.writeHead(status).end(() => {
      call.status = status;
    });
  });
  return { url: `http://127.0.0.1:${server.port}/`, secret, calls, forged, close: server.close };
}

function read(verifier: Webhook, body: string, headers: IncomingHttpHeaders, forged: string[]): WebhookCall {
  try {
    verifier.verify(body, headers as Record<string, string>);
  } catch (error) {
    forged.push(`${String(error)}: ${body.slice(0, 100)}`);
  }
  return { messageId: String(headers['webhook-id']), id: (JSON.parse(body) as { id: number }).id, status: null };
}
