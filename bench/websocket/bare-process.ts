import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { answerParent } from '../lib.ts';

/** The least that a broadcast can be with `ws`: a loop over the clients of its server. */
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
const messages: Buffer[] = [];

const answers = {
  url: () => `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,

  /** What it sends from here on. */
  messages(texts: readonly string[]): void {
    messages.splice(0, messages.length, ...texts.map((text) => Buffer.from(text)));
  },

  /** Sends every message to every client. */
  broadcast(): Broadcast {
    const startNs = process.hrtime.bigint();
    for (const message of messages) for (const client of server.clients) client.send(message, { binary: false });
    return { startNs, loopNs: process.hrtime.bigint() - startNs };
  },
};

/** When a broadcast began, and how long its sender was busy with nothing else. */
export interface Broadcast {
  startNs: bigint;
  loopNs: bigint;
}

export type BareAnswers = typeof answers;

answerParent(answers);
