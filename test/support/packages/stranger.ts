import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOT } from '../docs/documents.ts';

/** The bin folder of a Node of test/packages; null on systems that it has none for. */
export function findNodeFolder(major: 20 | 22): string | null {
  const folder = join(ROOT, `test/packages/node_modules/node-${major}-${process.arch}/bin`);
  return existsSync(join(folder, 'node')) ? folder : null;
}

export interface StrangerRun {
  code: number;
  stdout: string;
  stderr: string;
}

/** A machine with another Node, an empty home and an empty folder. */
export interface Stranger {
  folder: string;
  run(program: string, words: readonly string[], environment?: Record<string, string>): Promise<StrangerRun>;
  openMcp(program: string, words: string[], environment?: Record<string, string>): Promise<Client>;
}

/** How npm reaches its registry. */
const NETWORK = ['NODE_EXTRA_CA_CERTS', 'npm_config_registry', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];

export async function createStranger(nodeFolder: string): Promise<Stranger> {
  const [folder, home] = await Promise.all(['empty', 'home'].map((name) => mkdtemp(join(tmpdir(), `oracle-${name}-`))));
  const network = Object.fromEntries(NETWORK.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const base = { ...network, HOME: home!, PATH: [nodeFolder, ...getSystemPath()].join(delimiter) };
  return {
    folder: folder!,
    async run(program, words, environment = {}) {
      try {
        const options = { cwd: folder!, env: { ...base, ...environment }, maxBuffer: 64e6 };
        return { code: 0, ...(await promisify(execFile)(program, words, options)) };
      } catch (error) {
        return error as StrangerRun;
      }
    },
    async openMcp(program, words, environment = {}) {
      const client = new Client({ name: 'stranger', version: '1.0.0' });
      const options = { command: program, args: words, env: { ...base, ...environment }, cwd: folder!, stderr: 'ignore' as const };
      await client.connect(new StdioClientTransport(options));
      return client;
    },
  };
}

/** Without the programs of this project. */
function getSystemPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
}
