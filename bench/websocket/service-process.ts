import { getAddress } from 'viem';
import { ConnectionHub } from '../../src/events/websocket/hub.ts';
import { keepReadingsFresh, openSession, type SessionOpener, walletOf } from '../../test/support/auth/sessions.ts';
import { changesOf, type RecordChange } from '../../test/support/events/push-changes.ts';
import { serve } from '../../test/support/http/serve.ts';
import { testService, today } from '../../test/support/service/service.ts';
import { answerParent } from '../lib.ts';
import type { Broadcast } from './bare-process.ts';

/** The whole service on a database and a chain of its own, with an empty record and without rate limits. */
const service = await testService(0);
service.progress.complete();
const { url } = await serve(service);
const days = forecastDays(365);
const loop = timedLoop();
const opener = sessionOpener();
keepReadingsFresh(opener);

function sessionOpener(): SessionOpener {
  const { access, identity, now } = service.http;
  const { chainId, addresses } = service.http.chain;
  const issuer = `eip155:${chainId}:${getAddress(addresses.identityRegistry)}:${identity()!.agentId}`;
  return { db: service.database.db, keys: access.keys, issuer, now };
}

/** Milliseconds that the hubs of this process spend on broadcasts. */
function timedLoop(): { takenNs(): Promise<bigint> } {
  const { broadcast } = ConnectionHub.prototype;
  let ns = 0n;
  let last = Promise.resolve();
  ConnectionHub.prototype.broadcast = function timed(events) {
    const startNs = process.hrtime.bigint();
    last = broadcast.call(this, events).then(() => {
      ns += process.hrtime.bigint() - startNs;
    });
    return last;
  };
  return {
    async takenNs() {
      await last;
      const taken = ns;
      ns = 0n;
      return taken;
    },
  };
}

/** Days that are forecast one after the other, and nothing else. */
function* forecastDays(count: number): Generator<RecordChange> {
  const all = changesOf(service.pipeline, { from: today() - 30, days: count });
  yield* all.filter(({ keys }) => keys.some((key) => key.startsWith('signal.new')));
}

const answers = {
  url: () => `${url.replace('http', 'ws')}/ws/signal?horizons=all`,

  /** Tokens of so many sessions, five a wallet. */
  tokens: (count: number) => Promise.all(Array.from({ length: count }, (_, index) => openSession(opener, walletOf(Math.floor(index / 5))))),

  /** Forecasts a day; its events stay in the outbox. Returns their number. */
  async forecast(): Promise<number> {
    const { value } = days.next() as { value: RecordChange };
    await value.make();
    return value.keys.length;
  },

  /** Publishes them: from the outbox to the log, from there to the sockets. */
  async publish(): Promise<Pick<Broadcast, 'startNs'>> {
    const startNs = process.hrtime.bigint();
    await service.push.publish();
    return { startNs };
  },

  /** How long the loop over the connections took since this was asked last. */
  loopNs: () => loop.takenNs(),

  stop: () => service.stop(),
};

export type ServiceAnswers = typeof answers;

answerParent(answers);
