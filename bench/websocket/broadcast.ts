import { type Benchmark, type BenchOptions, type Child, type Comparison, interleaved, type SocketOptions, startChild } from '../lib.ts';
import type { BareAnswers, Broadcast } from './bare-process.ts';
import type { ClientAnswers, Finished } from './client-process.ts';
import type { ServiceAnswers } from './service-process.ts';

const CLIENTS = 5_000;
const GOAL = 0.9;

/** What sessions, tiers, filters, resuming and limits on slow readers cost where events go out to everybody. */
export const WEBSOCKET_BROADCAST: Benchmark = {
  name: 'websocket-broadcast',
  what: 'events to all sockets of one process of the service, against a bare `ws` server that sends the same bytes to its clients',
  async run({ clients = CLIENTS, rounds, report }) {
    const children = await startChildren();
    try {
      return await compare(children, { clients, rounds, report });
    } finally {
      await children.service.ask('stop');
      await Promise.all(Object.values(children).map((child) => child.end()));
    }
  },
};

interface Children {
  service: Child<ServiceAnswers>;
  bare: Child<BareAnswers>;
  ownClients: Child<ClientAnswers>;
  bareClients: Child<ClientAnswers>;
}

async function startChildren(): Promise<Children> {
  const [service, bare, ownClients, bareClients] = await Promise.all([
    startChild<ServiceAnswers>('websocket/service-process.ts'),
    startChild<BareAnswers>('websocket/bare-process.ts'),
    startChild<ClientAnswers>('websocket/client-process.ts'),
    startChild<ClientAnswers>('websocket/client-process.ts'),
  ]);
  return { service, bare, ownClients, bareClients };
}

async function compare(children: Children, { clients, rounds, report }: SocketOptions): Promise<Comparison[]> {
  const { service, bare, ownClients, bareClients } = children;
  report(`  connecting ${clients} sockets to either side`);
  const tokens = await service.ask('tokens', clients);
  await ownClients.ask('connect', { url: await service.ask('url'), tokens });
  await bareClients.ask('connect', { url: await bare.ask('url'), tokens: tokens.map(() => null) });
  report(`  ${clients} sockets of ${Math.ceil(clients / 5)} wallets on either side, each side's clients in one process`);

  let sample = (await ownRound(children)).sample;
  const run = await interleaved(
    {
      baseline: () => bareRound(children, sample),
      ours: async () => {
        const round = await ownRound(children);
        sample = round.sample;
        return round;
      },
    },
    { rounds, report },
  );
  report(
    `  ${sample.length} events a round, ${Math.round(sample.join('').length / sample.length)} bytes each; ${rounds} rounds of either side, by turns`,
  );
  await reportLostEvents(children, run.ours, report);
  return comparisons(run, clients);
}

/** A broadcast as it was received. */
interface Round extends Broadcast, Finished {}

async function ownRound({ service, ownClients }: Children): Promise<Round> {
  await ownClients.ask('expect', await service.ask('forecast'));
  const { startNs } = await service.ask('publish');
  const received = await ownClients.ask('finished');
  return { startNs, loopNs: await service.ask('loopNs'), ...received };
}

async function bareRound({ bare, bareClients }: Children, messages: readonly string[]): Promise<Round> {
  await bare.ask('messages', messages);
  await bareClients.ask('expect', messages.length);
  const sent = await bare.ask('broadcast');
  return { ...sent, ...(await bareClients.ask('finished')) };
}

async function reportLostEvents({ ownClients }: Children, rounds: readonly Round[], report: BenchOptions['report']): Promise<void> {
  const ids = rounds.flatMap((round) => round.ids);
  const inOrder = ids.every((id, index) => index === 0 || id === ids[index - 1] + 1);
  const { events, ends } = await ownClients.ask('strays');
  const all = inOrder && events === 0 && ends.length === 0 && rounds.every(({ same }) => same);
  report(`  every socket got each of the ${ids.length} events once, in order: ${all ? 'yes' : 'NO'}`);
}

function comparisons({ baseline, ours }: Record<'baseline' | 'ours', Round[]>, clients: number): Comparison[] {
  const perSecond = (ns: (round: Round) => bigint) => (round: Round) => (clients * round.ids.length) / (Number(ns(round)) / 1e9);
  const compared = (unit: string, meaning: string, ns: (round: Round) => bigint): Comparison => {
    return { kind: 'rate', unit, meaning, baseline: baseline.map(perSecond(ns)), ours: ours.map(perSecond(ns)), goal: GOAL };
  };
  return [
    compared(
      'messages/s, the loop over the sockets alone',
      'What sessions, tiers and filters cost the process that sends. Events that come together are one write to a socket; the baseline writes each message.',
      ({ loopNs }) => loopNs,
    ),
    compared(
      'messages/s, from the record (the baseline: the loop) to the last client',
      'How soon all have it, with the way from the database to the sockets, which the baseline does not have.',
      ({ startNs, lastAtNs }) => lastAtNs - startNs,
    ),
  ];
}
