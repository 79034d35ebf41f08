import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { answerParent } from '../lib.ts';

/** An answer that was made already. */
export interface Ready {
  path: string;
  headers: Record<string, string>;
  body: string;
}

const answers = {
  /** Serves it with Express and nothing else; reports its address. */
  async serve({ path, headers, body }: Ready): Promise<string> {
    const app = express().disable('x-powered-by').disable('etag');
    app.get(path, (_request, response) => void response.set(headers).send(body));
    const server = await new Promise<Server>((done) => {
      const listening = app.listen(0, '127.0.0.1', () => done(listening));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  },
  residentMb: () => process.memoryUsage.rss() / 1e6,
};

export type BareAnswers = typeof answers;

answerParent(answers);
