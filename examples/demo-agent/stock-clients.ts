import type { Address } from 'viem';
import { type Bought, INTERFACES, loadClient, readInstalledVersion, STOCK_CLIENTS, type StockClient } from '../clients/catalog.ts';
import type { Agent } from './agent.ts';
import { ask } from './ask.ts';
import { compareMoney, countMoney } from './count-money.ts';
import { beginStep, check, narrate, print, StepFailed, usd } from './narrate.ts';
import { checkReceipt, type Receipt } from './receipt.ts';

interface Row {
  client: string;
  bought: string;
  price: string;
  proof: string;
}

/** What the service publishes for clients that know its address alone. */
interface Published {
  seller: Address;
  rpcUrl: string;
  agentId: string;
  endpoints: string[];
}

interface Registration {
  registrations: { agentId: number }[];
  services: { endpoint: string }[];
}

const ALL = 'all';

/** @throws StepFailed that lists the names */
export function findStockClients(name: string): readonly StockClient[] {
  const found = name === ALL ? STOCK_CLIENTS : STOCK_CLIENTS.filter((client) => [client.name, client.packageName].includes(name));
  if (found.length > 0) return found;
  const names = [...STOCK_CLIENTS.map((client) => client.name), ALL].join(', ');
  throw new StepFailed(`--as: there is no client "${name}"`, `Name one of ${names}.`);
}

/** Each client buys by the code of its own README; every payment is checked on chain, and so is its receipt. @param install of their packages */
export async function playStockClients(agent: Agent, clients: readonly StockClient[], install: () => void): Promise<void> {
  print(`Wallet ${agent.account.address} at ${agent.service}`);
  const before = await countMoney(agent);
  const published = await readPublished(agent);
  install();
  const rows: Row[] = [];
  for (const client of clients) {
    beginStep(await readInstalledVersion(client));
    rows.push(await playClient(agent, client, published).catch((error) => toFailedRow(client, error)));
  }
  try {
    await compareMoney(agent, before);
  } finally {
    print('');
    printTable(rows);
  }
}

async function readPublished({ service, chainId }: Agent): Promise<Published> {
  const { receipt } = await ask<{ receipt: { signer: Address } }>(`${service}/.well-known/x402.json`);
  const { chain } = await ask<{ chain: { rpcUrl: string } }>(`${service}/api/svc/info`);
  const { registrations, services } = await ask<Registration>(`${service}/.well-known/agent-registration.json`);
  if (registrations.length === 0) throw new StepFailed('The service is in no registry yet', 'Try again in a minute.');
  const agentId = `${chainId}:${registrations[0].agentId}`;
  return { seller: receipt.signer, rpcUrl: chain.rpcUrl, agentId, endpoints: services.map(({ endpoint }) => endpoint) };
}

async function playClient(agent: Agent, client: StockClient, published: Published): Promise<Row> {
  const { buy, find } = await loadClient(client);
  const { rpcUrl, agentId } = published;
  if (client.finds) return describeAgent(client, published, await find!({ rpcUrl, agentId }));
  const { title, order } = INTERFACES[client.interfaces[0]];
  const privateKey = agent.privateKey;
  return describePurchase(agent, { client, title, seller: published.seller }, await buy!({ ...order(agent.service), privateKey, rpcUrl }));
}

async function describePurchase(
  agent: Agent,
  { client, title, seller }: { client: StockClient; title: string; seller: Address },
  { answer: body, settlement }: Bought,
): Promise<Row> {
  const { payment, receipt, ...answer } = body as { payment: { txHash: string; usd: string }; receipt: Receipt } & Record<string, unknown>;
  narrate(`${title}: ${answer.signal} for ${answer.horizon} from ${answer.date}, for ${payment.usd} USD`);
  check(settlement?.success === true && settlement.transaction === payment.txHash, 'the protocol receipt names the same transaction');
  await checkReceipt(agent, receipt, { answer, seller });
  return { client: client.name, bought: title, price: usd(receipt.message.amount), proof: `${payment.txHash}, signed receipt` };
}

function describeAgent({ name }: StockClient, { agentId, endpoints }: Published, file: Record<string, unknown>): Row {
  narrate(`${file.name}, agent ${agentId} of the registry of ERC-8004`);
  const found = file.endpoints as { type: string; value: string }[];
  for (const { type, value } of found) narrate(`${type}: ${value}`);
  const isSame = found.length > 0 && found.every(({ value }) => endpoints.includes(value));
  check(isSame, 'its registration file names the interfaces of this service');
  check(file.x402support === true, 'and says that it is paid by x402');
  return { client: name, bought: `found ${file.name}`, price: 'nothing', proof: `registry entry ${agentId}` };
}

function toFailedRow({ name }: StockClient, error: unknown): Row {
  const reason = error instanceof Error ? error.message : String(error);
  narrate(`✗ ${reason}`);
  process.exitCode = 1;
  return { client: name, bought: 'FAILED', price: '', proof: reason };
}

function printTable(rows: readonly Row[]): void {
  const lines = [{ client: 'Client', bought: 'Bought', price: 'Price', proof: 'Proof' }, ...rows];
  const width = (column: keyof Row) => Math.max(...lines.map((line) => line[column].length));
  const [client, bought, price] = [width('client'), width('bought'), width('price')];
  for (const line of lines) {
    print(`${line.client.padEnd(client)}  ${line.bought.padEnd(bought)}  ${line.price.padEnd(price)}  ${line.proof}`);
  }
}
