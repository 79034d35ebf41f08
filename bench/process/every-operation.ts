import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { parseDemoFile } from '../../src/dev/demo/demo-file.ts';
import { EXAMPLE_CALLS } from '../../src/tools/examples/calls.ts';
import { createExampleClient, type ExampleCall, type ExampleClient } from '../../src/tools/examples/example-client.ts';
import { buildPath, buildRequest, type CallableOperation, listOperations } from '../../src/tools/examples/record-examples.ts';

/** What a path parameter is without a call of its own: an answer of 404 also loads what the operation needs. */
const UNKNOWN: ExampleCall['params'] = {
  id: 'unknown',
  uid: `0x${'0'.repeat(64)}`,
  date: '2020-01-01',
  weekId: '2020-W01',
  cid: 'unknown',
};

/** Calls each operation of the OpenAPI document once, in its order, with the token of its tier; resolves to the statuses by operation. */
export async function callEveryOperation(
  url: string,
  dataDir: string,
  afterEach: (name: string) => Promise<void>,
): Promise<Map<string, number>> {
  const client = await openClient(url, dataDir);
  const statuses = new Map<string, number>();
  for (const operation of listOperations(await client.requestJson('/.well-known/openapi.json'))) {
    statuses.set(operation.operationId, await callOperation(client, operation));
    await afterEach(operation.operationId);
  }
  return statuses;
}

async function openClient(url: string, dataDir: string): Promise<ExampleClient> {
  const { rpcUrl, wallets } = parseDemoFile(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  const account = (name: string) => privateKeyToAccount(wallets[name].privateKey);
  const accounts = { basic: account('basic'), premium: account('premium'), poor: account('poor'), buyer: account('buyer') };
  return createExampleClient({ url, rpcUrl, wallets: accounts, nowMs: Date.now });
}

async function callOperation(client: ExampleClient, operation: CallableOperation): Promise<number> {
  const holder = operation['x-access'] === 'premium' ? 'premium' : 'basic';
  const call = await exampleCall(client, operation.operationId, holder);
  const token = operation['x-access'] === 'basic' || holder === 'premium' ? await client.logIn(holder) : undefined;
  const accept = operation.mediaTypes[0] ?? 'application/json';
  const response = await client.request(buildPath(operation, call), buildRequest(operation, call, { accept, token }));
  await response.arrayBuffer();
  return response.status;
}

/** A record of a few days lacks what some calls look for. */
async function exampleCall(client: ExampleClient, operationId: string, holder: 'basic' | 'premium'): Promise<ExampleCall> {
  try {
    const call = (await EXAMPLE_CALLS[operationId]?.(client, holder)) ?? {};
    return { ...call, params: { ...UNKNOWN, ...call.params } };
  } catch {
    return { params: { ...UNKNOWN, wallet: client.wallets.premium.address, step: 'resolve', file: 'unknown', jobId: '1' } };
  }
}
