import { parseArgs } from 'node:util';
import { STOCK_CLIENTS, type StockClient } from '../clients/catalog.ts';
import { type Agent, createAgent } from './agent.ts';
import { askA2a } from './ask-a2a.ts';
import { askMcp } from './ask-mcp.ts';
import { buyDocument } from './buy-document.ts';
import { checkForecast } from './check-forecast.ts';
import { compareMoney, countMoney } from './count-money.ts';
import { findCard } from './find-card.ts';
import { print, StepFailed, usd } from './narrate.ts';
import { openJob } from './open-job.ts';
import { payRequests } from './pay-requests.ts';
import { readPrice } from './read-price.ts';
import { findStockClients, playStockClients } from './stock-clients.ts';

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
