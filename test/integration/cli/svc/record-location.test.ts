import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../../../src/chain/addresses.ts';
import { openAudit } from '../../../../src/cli/audit.ts';
import { locateRecord } from '../../../../src/cli/svc/commands/verify.ts';
import type { CliContext, DemoDeployment } from '../../../../src/cli/svc/context.ts';
import { loadConfig } from '../../../../src/config.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { cli } from '../../../support/service/cli.ts';

const addressOf = (byte: string): Address => `0x${byte.repeat(20)}`;
const OWN_EAS = addressOf('ea');

/** A service that names its record, and an RPC endpoint that only knows its chain id. */
let server: Server;
let url: string;
let chainId: number;
let eas: Address;
beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  [chainId, eas] = [84532, EAS_ADDRESS];
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (request.url === '/ready') return void response.end(JSON.stringify({ checks: [] }));
  if (request.method === 'GET') return void response.end(JSON.stringify(info()));
  const calls = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const result = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: `0x${chainId.toString(16)}` });
  response.end(JSON.stringify(Array.isArray(calls) ? calls.map(result) : result(calls)));
}

function info() {
  const contracts = { eas, schemaRegistry: SCHEMA_REGISTRY_ADDRESS, stablecoin: addressOf('aa') };
  return { chain: { id: chainId, local: true, attester: addressOf('bb'), rpcUrl: url }, contracts, data: { source: 'simulated' } };
}

/** Content of a data folder. */
const demoOf = (stablecoin: Address): DemoDeployment => ({
  ...{ rpcUrl: url, chainId, wallets: {} },
  contracts: { eas: EAS_ADDRESS, schemaRegistry: SCHEMA_REGISTRY_ADDRESS, stablecoin },
});

const hostOf = (more: Partial<CliContext> = {}) => ({ environment: {}, localUrl: async () => url, ...more }) as CliContext;

it('verify exits with 2 when the service does not belong to the data folder', async () => {
  const demo = async () => demoOf(addressOf('cc'));
  const { code, out, err } = await cli(['verify', 'latest'], { demo, localUrl: async () => url });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err.replaceAll('\n', ' ')).toContain(`DATA_DIR: the service at ${url} is not that of this data folder`);
});

it('reads its own service directly, and a named one through the endpoint that it names', async () => {
  const own = await locateRecord(hostOf({ demo: async () => demoOf(addressOf('aa')) }), {});
  expect(own.takenFromService).toEqual(['attester']);
  const other = await locateRecord(hostOf({ demo: async () => demoOf(addressOf('cc')) }), { url });
  expect(other.takenFromService).toEqual(['attester', 'endpoint']);
});

it('audit exits with 2 when the service does not belong to the data folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-cli-folder-'));
  onTestFinished(() => removeFolder(folder));
  const { contracts, ...demo } = demoOf(addressOf('cc'));
  const others = { gateToken: addressOf('dd'), identityRegistry: addressOf('dd'), reputationRegistry: addressOf('dd') };
  await writeFile(join(folder, 'demo.json'), JSON.stringify({ ...demo, contracts: { ...contracts, ...others } }));
  const settings = () => loadConfig({ DATA_DIR: folder, FEEDS: 'simulated' });
  const run = await cli(['audit', '--service', url], { openAudit: (command) => openAudit(command, settings) });
  expect(run).toMatchObject({ code: 2, out: '' });
  expect(run.err.replaceAll('\n', ' ')).toContain(`The service at ${url} is not that of the data folder ${folder}`);
});

it('rejects a foreign EAS contract on a chain with a predeploy', async () => {
  eas = OWN_EAS;
  await expect(locateRecord(hostOf(), {})).rejects.toThrow(`--eas: is needed: the service names ${OWN_EAS}, and chain 84532 has EAS at`);
  const named = await locateRecord(hostOf(), { eas: OWN_EAS });
  expect([named.chain.addresses.eas, named.takenFromService]).toEqual([OWN_EAS, ['attester', 'endpoint']]);
});

it('reports the EAS contract of other chains as taken from the service', async () => {
  [chainId, eas] = [31_337, OWN_EAS];
  const { chain, takenFromService } = await locateRecord(hostOf(), {});
  expect([chain.addresses.eas, takenFromService]).toEqual([OWN_EAS, ['attester', 'endpoint', 'eas']]);
});
