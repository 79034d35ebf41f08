import { composeTrustedTime } from '../../../src/app/app.ts';
import { type Chain, createChain } from '../../../src/chain/client.ts';
import type { PipelineContext, StepContext } from '../../../src/pipeline/forecaster.ts';
import type { TestService } from '../service/service.ts';

export interface Worker {
  chain: Chain;
  parts: PipelineContext;
  /** The circumstances of its steps. */
  context(): StepContext;
  now(): Date;
}

/** A second worker on the database and the chain of a service, its clock so far ahead of that of the machine; behind when negative. */
export async function workerWithClock(service: TestService, aheadMs: number): Promise<Worker> {
  const { pipeline, database, http, infrastructure } = service;
  const { chainId, addresses } = http.chain;
  const now = () => new Date(Date.now() + aheadMs);
  const chain = await createChain({ rpcUrl: infrastructure.rpcUrl, chainId, addresses, confirmations: 1, pollingIntervalMs: 20 });
  const time = composeTrustedTime(service, { chain, database, now });
  return { chain, parts: { ...pipeline, time }, context: () => ({ now: now(), replayed: false, time }), now };
}
