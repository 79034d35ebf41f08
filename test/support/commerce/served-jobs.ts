import { privateKeyToAccount } from 'viem/accounts';
import { vi } from 'vitest';
import type { TestService } from '../service/service.ts';
import { jobClient } from './job-client.ts';

/** Has a service take on jobs until it stops, as a running one does. */
export function serveJobs({ watchJobs, shutdown }: TestService): void {
  const watching = watchJobs!();
  shutdown.onStop('agent commerce', () => watching);
}

/** Serves jobs, of which there is one from the start: number 1, of the demonstration's buyer, accepted and not funded. */
export async function serveOneJob(service: TestService): Promise<void> {
  const { infrastructure, http } = service;
  const { agentCommerce, stablecoin } = http.chain.addresses;
  const world = { rpcUrl: infrastructure.rpcUrl, contract: agentCommerce!, stablecoin, provider: http.jobs!.provider };
  const buyer = privateKeyToAccount(infrastructure.demo!.wallets.buyer!.privateKey);
  const jobId = await jobClient(world, buyer).create();
  serveJobs(service);
  await vi.waitFor(
    async () => {
      if ((await http.jobs!.find(jobId))?.budgetTx == null) throw new Error('the job is not taken on');
    },
    { timeout: 10_000, interval: 50 },
  );
}
