import { composeContest } from '../../../src/app/pipeline.ts';
import { type Chain, createChain } from '../../../src/chain/client.ts';
import type { Contest } from '../../../src/contest.ts';
import { type Day, toInstantMs, toWeek } from '../../../src/forecast/day.ts';
import { timeOf } from '../clock/trusted-time.ts';
import { type Served, serve } from '../http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../service/service.ts';

/** Enough for a whole round, its listing included, whatever weekday it is. */
const DAYS = 16;

export interface ContestService {
  service: TestService;
  chain: Chain;
  contest: Contest;
  served: Served;
  /** The Monday that the first round opens on. */
  monday: Day;
  /** Clock of the contest and of its routes, in ms. */
  clock: { ms: number };
  stop(): Promise<void>;
}

/** A service without a record, with a contest that goes by a clock of the test's: three days before that Monday. */
export async function youngContest(): Promise<ContestService> {
  return withContest(await testService(1), toWeek(today()) + 7);
}

/** The same with a record up to that Monday, which is seven days ago at the latest. */
export async function contestService(): Promise<ContestService & { finishRecord(): Promise<void> }> {
  const end = today();
  const monday = toWeek(end - 7);
  // One more, should midnight pass between the two.
  const service = await testService(DAYS + 1);
  for (let day = end - DAYS; day < monday; day++) await runPastDay(service, day);
  return {
    ...(await withContest(service, monday)),
    finishRecord: async () => {
      for (let day = monday; day < end; day++) await runPastDay(service, day);
    },
  };
}

async function withContest(service: TestService, monday: Day): Promise<ContestService> {
  const chain = await connectedChain(service);
  const clock = { ms: toInstantMs(monday - 3, 9) };
  const now = () => new Date(clock.ms);
  const contest = composeContest({ ...service.http, chain, time: timeOf(now), now });
  const served = await serve({ ...service, http: { ...service.http, contest, now } });
  const stop = async () => {
    await served.close();
    await service.stop();
  };
  return { service, chain, contest, served, monday, clock, stop };
}

function connectedChain({ infrastructure, http }: TestService): Promise<Chain> {
  const { chainId, addresses } = http.chain;
  return createChain({ rpcUrl: infrastructure.rpcUrl, chainId, confirmations: 1, pollingIntervalMs: 20, addresses });
}
