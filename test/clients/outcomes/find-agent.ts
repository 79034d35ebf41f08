import { loadClient, readInstalledVersion, STOCK_CLIENTS } from '../../../examples/clients/catalog.ts';
import type { World } from '../world/world.ts';

interface Registration {
  registrations: { agentId: number }[];
  services: { endpoint: string }[];
}

/** The registry of ERC-8004, read by a client that has no more than an RPC endpoint, names this service. Lines to print. */
export async function findAgent({ demo, rpcUrl, wire }: World, names: readonly string[]): Promise<{ lines: string[]; ok: boolean }> {
  const finders = STOCK_CLIENTS.filter(({ name, finds }) => finds === true && (names.length === 0 || names.includes(name)));
  const published = (await (await fetch(`${wire.url}/.well-known/agent-registration.json`)).json()) as Registration;
  const expected = published.services.map(({ endpoint }) => endpoint).join(', ');
  const agentId = `${demo.chainId}:${published.registrations[0]?.agentId}`;
  const lines: string[] = [];
  let ok = true;
  for (const client of finders) {
    const { find } = await loadClient(client);
    const endpoints = (await find!({ rpcUrl, agentId })).endpoints as { value: string }[];
    const found = endpoints.map(({ value }) => value).join(', ');
    if (found !== expected) ok = false;
    lines.push(
      `${await readInstalledVersion(client)}, registry of ERC-8004, agent ${agentId}: ${found === expected ? 'found' : 'FAILED'}, ${found}`,
    );
  }
  return { lines, ok };
}
