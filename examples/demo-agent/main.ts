import { parseArgs } from 'node:util';
import type { Address } from 'viem';
import { type Bought, INTERFACES, loadClient, readInstalledVersion, STOCK_CLIENTS, type StockClient } from '../clients/catalog.ts';
import {
  type Agent,
  ask,
  askA2a,
  askMcp,
  beginStep,
  buyDocument,
  check,
  checkForecast,
  checkReceipt,
  compareMoney,
  countMoney,
  createAgent,
  findCard,
  narrate,
  openJob,
  payRequests,
  print,
  type Receipt,
  readPrice,
  StepFailed,
  usd,
} from './agent.ts';

const USAGE = `Usage: npm run demo:agent -- [--as <client>] [--url <url of the service>] [--data-dir <folder of npm start>]

An agent that has a wallet and no account: it finds the service, pays for answers in every way there is, and checks what it got.
It uses the throw-away wallet "buyer" of demo.json, on the local chain of a running service.

--as <client> buys by the code of a published client's own README instead, installed on first use; all: by each of them.
  ${STOCK_CLIENTS.map(({ name }) => name).join(', ')}, all
`;

/** Plays the agent; ends with 1 at the first step that fails. @param installClients installs the packages of examples/clients */
export async function main(words: string[], installClients: () => void): Promise<void> {
  try {
    const options = readOptions(words);
    if (options === null) print(USAGE);
    else if (options.clients === undefined) await play(await createAgent(options));
    else await playStockClients(await createAgent(options), options.clients, installClients);
  } catch (error) {
    print(`   ✗ ${error instanceof Error ? error.message : String(error)}`);
    print(`     ${error instanceof StepFailed ? error.hint : 'This was not expected. Is the service still running? Look at its log.'}`);
    process.exitCode = 1;
  }
}

async function play(agent: Agent): Promise<void> {
  print(`Agent ${agent.account.address} at ${agent.service}`);
  const began = Date.now();
  const before = await countMoney(agent);
  await findCard(agent);
  const terms = await readPrice(agent);
  const premium = await payRequests(agent, terms);
  await checkForecast(agent, premium);
  await askMcp(agent, terms);
  await askA2a(agent, terms);
  await buyDocument(agent, terms);
  await openJob(agent);
  const after = await compareMoney(agent, before);
  const seconds = ((Date.now() - began) / 1_000).toFixed(1);
  print(`\nDone in ${seconds} s: ${after.payments - before.payments} payments, ${usd(agent.spent)} spent, all of it checked.`);
}

interface Options {
  service: string;
  dataDir: string;
  /** Unset: the agent of this folder. */
  clients?: readonly StockClient[];
}

function readOptions(words: string[]): Options | null {
  const { PORT, DATA_DIR } = process.env;
  const values = parsed(words);
  if (values.help) return null;
  const service = (values.url ?? `http://127.0.0.1:${PORT || 3000}`).replace(/\/+$/, '');
  const clients = values.as === undefined ? undefined : findStockClients(values.as);
  if (!URL.canParse(service)) throw new StepFailed(`--url: ${service} is no URL`, 'Name the address that npm start prints.');
  return { service, dataDir: values['data-dir'] ?? (DATA_DIR || './data'), clients };
}

function parsed(words: string[]) {
  const options = {
    url: { type: 'string' },
    'data-dir': { type: 'string' },
    as: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    throw new StepFailed((error as Error).message, 'npm run demo:agent -- --help shows the options.');
  }
}

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
async function playStockClients(agent: Agent, clients: readonly StockClient[], install: () => void): Promise<void> {
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
