import { createServer } from 'node:http';
import { openAsk } from '../http/ask.ts';
import { listenOnLoopback } from './loopback-server.ts';

/** Passes an answer on once it is complete, as a proxy with buffering does. */
export async function startBufferingProxy(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const { ask, close } = openAsk(target);
  const server = createServer(async ({ url, headers }, response) => {
    // An encoded body would not survive as text.
    const { 'accept-encoding': _, ...passed } = headers;
    const { status, text } = await ask(url!, { headers: passed as Record<string, string> });
    response.writeHead(status).end(text);
  });
  const listening = await listenOnLoopback(server);
  return {
    url: listening.url,
    async close() {
      await listening.close();
      close();
    },
  };
}
